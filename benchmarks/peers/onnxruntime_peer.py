# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: the exported graph or the one fused for transformers, each with all threads on one batch, or with
one batch per thread."""
import concurrent.futures
import pathlib

import numpy
import onnxruntime
import tokenizers

import encoder_peer
from batches import load_tokenizer, padded_batches


class onnxruntime_peer:
    def __init__(self, model, onnx, threads):
        self.tokenizer = load_tokenizer(model)
        self.versions = {
            "onnxruntime": onnxruntime.__version__,
            "tokenizers": tokenizers.__version__,
        }
        self.variants = {}
        for graph in ("plain", "fused"):
            path = pathlib.Path(onnx, f"{graph}.onnx")
            for streams in sorted({1, threads}):
                session = self.session(path, threads // streams)
                self.variants[f"{graph}, {streams} at a time"] = (session, streams)
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)

    @staticmethod
    def session(path, threads):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, texts, order, variant):
        session, streams = self.variants[variant]
        embeddings = numpy.empty((len(texts), session.get_outputs()[0].shape[-1]), numpy.float32)

        def run(batch):
            rows, inputs = batch
            embeddings[rows] = session.run(None, inputs)[0]

        batches = padded_batches(self.tokenizer, texts, order)
        for _ in (map if streams == 1 else self.pool.map)(run, batches):
            pass
        return embeddings


if __name__ == "__main__":
    encoder_peer.serve(onnxruntime_peer)
