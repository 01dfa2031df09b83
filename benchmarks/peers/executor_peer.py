# SPDX-License-Identifier: Apache-2.0
"""A server that gathers single requests into batches, among the peers, for its worker.

Requests: measure (workload, count, in_flight) and close, after which no process of the server is left.
"""
import pathlib
import sys
import time

import worker

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "reference"))

BATCH_SIZE = 32
DIMENSION = 384
SEED_TEXT = "Using a GPU allows you to significantly speed up encoding."
NOOP, ENCODE = "noop", "encode"


def sentence_encoder(model, threads):
    """A function of a list of texts that gives their embeddings, by sentence-transformers."""
    from embeddings import encode, load

    transformer = load(model, threads)
    return lambda texts: encode(transformer, texts, BATCH_SIZE)


class executor_peer:
    """Answers requests for one peer: an object with versions, a dict, run(workload, items, in_flight), which submits
    items one by one, at most so many at once, and gives their results in order, and close()."""

    requests = ["measure", "close"]

    def __init__(self, peer):
        self.peer = peer

    def greeting(self):
        return {"versions": self.peer.versions}

    def measure(self, workload, count, in_flight):
        items = list(range(count)) if workload == NOOP else [SEED_TEXT] * count
        self.peer.run(workload, items[: max(1, count // 10)], in_flight)
        start = time.perf_counter()
        results = self.peer.run(workload, items, in_flight)
        seconds = time.perf_counter() - start
        right = results == items if workload == NOOP else [len(result) for result in results] == [DIMENSION] * count
        if not right:
            raise RuntimeError(f"{workload}: {len(results)} results for {count} items, or wrong ones")
        return {"seconds": seconds / count}

    def close(self):
        self.peer.close()
        return {}


def serve(make_server):
    """Runs the worker of a server; make_server(model, threads) starts it."""
    worker.serve(lambda model, threads: executor_peer(make_server(model, int(threads))))
