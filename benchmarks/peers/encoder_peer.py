# SPDX-License-Identifier: Apache-2.0
"""A sentence encoder among the peers, for its worker.

Requests: texts (name; text and count, or path and every), prepare (texts, order, sample) and encode (texts, order,
variant, output).
"""
import pathlib
import sys
import time

import worker

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "reference"))


class encoder_peer:
    """Answers requests for one peer: an object with variants, a list of names, versions, a dict, and
    encode(texts, order, variant), which gives float32 [texts, dimension] in the order of texts."""

    requests = ["texts", "prepare", "encode"]

    def __init__(self, peer):
        self.peer = peer
        self.named_texts = {}

    def greeting(self):
        return {"variants": list(self.peer.variants), "versions": self.peer.versions}

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


def serve(make_encoder):
    """Runs the worker of an encoder; make_encoder(model, onnx, threads) loads it."""
    worker.serve(lambda model, onnx, threads: encoder_peer(make_encoder(model, onnx, int(threads))))
