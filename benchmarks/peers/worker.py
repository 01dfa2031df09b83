# SPDX-License-Identifier: Apache-2.0
"""A peer in a process of its own, which stays loaded and sleeps until it is asked.

One JSON object a line in each direction. A request names one of the peer's methods, by `request`, and its arguments;
the first line that a peer sends is its greeting, which holds its versions.
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import traceback


class worker_failed(Exception):
    """A peer could not do what it was asked."""


def serve(make_peer):
    """Runs a worker until its input ends. make_peer(*arguments) loads the peer: an object with greeting(), and with
    requests, the names of the methods that may be asked for."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    # Whatever a library prints must not mix with the replies.
    os.dup2(2, 1)

    def answer(work):
        try:
            reply = work()
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        return reply

    peer = None

    def start():
        nonlocal peer
        peer = make_peer(*sys.argv[1:])
        return peer.greeting()

    if "error" in answer(start):
        return
    # Ctrl-C is for the comparison, which then closes this input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        method = {name: getattr(peer, name) for name in peer.requests}[request.pop("request")]
        answer(lambda: method(**request))


class worker:
    """The other end: starts a peer's script and talks to it. A context manager."""

    def __init__(self, name, script, arguments, threads, log, python=sys.executable):
        self.name, self.log = name, pathlib.Path(log)
        count = str(threads)
        environment = dict(
            os.environ,
            OMP_NUM_THREADS=count,
            RAYON_NUM_THREADS=count,
            TOKENIZERS_PARALLELISM="true",
            HF_HUB_OFFLINE="1",
            PYTHONWARNINGS="ignore",
        )
        with open(self.log, "wb") as messages:
            self.process = subprocess.Popen(
                [str(python), str(script), *map(str, arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                env=environment,
                text=True,
            )
        try:
            self.greeting = self.reply()
        except worker_failed:
            self.close()
            raise
        self.versions = self.greeting["versions"]

    def reply(self):
        line = self.process.stdout.readline()
        if not line:
            raise worker_failed(f"{self.name} ended; its last words are in {self.log}")
        reply = json.loads(line)
        if "error" in reply:
            raise worker_failed(f"{self.name}: {reply['error']} (more in {self.log})")
        return reply

    def ask(self, request, **arguments):
        try:
            self.process.stdin.write(json.dumps({"request": request, **arguments}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise worker_failed(f"{self.name} ended; its last words are in {self.log}") from None
        return self.reply()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
