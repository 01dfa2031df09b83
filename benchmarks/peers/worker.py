# SPDX-License-Identifier: Apache-2.0
"""A peer in a process of its own, which keeps its model loaded and sleeps until it is asked.

One JSON object a line in each direction. Requests: texts (name; text and count, or path and every), prepare (texts, order,
sample) and encode (texts, order, variant, output).
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "reference"))


class worker_failed(Exception):
    """A peer could not do what it was asked."""


class server:
    """Answers requests for one peer: an object with variants, a list of names, versions, a dict, and
    encode(texts, order, variant), which gives float32 [texts, dimension] in the order of texts."""

    def __init__(self, peer):
        self.peer = peer
        self.named_texts = {}

    def texts(self, name, path=None, text=None, count=None, every=1):
        from tokens import read_texts

        self.named_texts[name] = read_texts(path)[::every] if path else [text] * count
        return {"count": len(self.named_texts[name])}

    def timed(self, texts, order, variant):
        start = time.perf_counter()
        embeddings = self.peer.encode(texts, order, variant)
        return embeddings, len(texts) / (time.perf_counter() - start)

    def prepare(self, texts, order, sample, variant=None):
        """Finds the peer's fastest variant, unless one is given, on a sample of these texts, and warms it."""
        texts = self.named_texts[texts]
        # Every so many-th text: a sample as mixed as the whole.
        some = texts[:: max(1, len(texts) // sample)]
        if variant:
            self.peer.encode(some, order, variant)
            return {"variant": variant, "trials": {}}
        trials = dict.fromkeys(self.peer.variants, 0.0)
        # The first turn is what each variant does once per shape, not its speed.
        for turn in range(4 if len(trials) > 1 else 0):
            for variant in trials:
                rate = self.timed(some, order, variant)[1]
                trials[variant] = max(trials[variant], rate if turn else 0.0)
        best = max(trials, key=trials.get)
        self.peer.encode(texts[:2000], order, best)
        return {"variant": best, "trials": trials}

    def encode(self, texts, order, variant, output=None):
        embeddings, rate = self.timed(self.named_texts[texts], order, variant)
        if output:
            import numpy

            numpy.save(output, embeddings)
        return {"texts_per_second": rate}


def serve(make_peer):
    """Runs a worker until its input ends; make_peer(model, onnx, threads) loads the peer."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    # Whatever a library prints must not mix with the replies.
    os.dup2(2, 1)
    model, onnx, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])

    def answer(work):
        try:
            reply = work()
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        return reply

    state = None

    def start():
        nonlocal state
        state = server(make_peer(model, onnx, threads))
        return {"variants": list(state.peer.variants), "versions": state.peer.versions}

    if "error" in answer(start):
        return
    # Ctrl-C is for the comparison, which then closes this input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        name = request.pop("request")
        work = {"texts": state.texts, "prepare": state.prepare, "encode": state.encode}[name]
        answer(lambda: work(**request))


class worker:
    """The other end: starts a peer's script and talks to it. A context manager."""

    def __init__(self, name, script, model, onnx, threads, log):
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
                [sys.executable, str(script), str(model), str(onnx), count],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                env=environment,
                text=True,
            )
        try:
            ready = self.reply()
        except worker_failed:
            self.close()
            raise
        self.variants, self.versions = ready["variants"], ready["versions"]

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
