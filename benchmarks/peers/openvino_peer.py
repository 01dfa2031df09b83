# SPDX-License-Identifier: Apache-2.0
"""OpenVINO at f32: the exported graph or its own conversion from PyTorch, each for latency, all threads on one batch, or
for throughput, one batch per thread."""
import pathlib

import numpy
import openvino
import tokenizers

import encoder_peer
from batches import load_tokenizer, padded_batches


class openvino_peer:
    def __init__(self, model, onnx, threads):
        self.tokenizer = load_tokenizer(model)
        self.versions = {"openvino": openvino.__version__, "tokenizers": tokenizers.__version__}
        core = openvino.Core()
        modes = {
            "latency": {"PERFORMANCE_HINT": "LATENCY"},
            "throughput": {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": threads},
        }
        common = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
        self.variants = {}
        for graph, file in {"onnx": "sdpa.onnx", "converted": "openvino.xml"}.items():
            for mode, settings in modes.items():
                compiled = core.compile_model(
                    pathlib.Path(onnx, file), "CPU", {**common, **settings}
                )
                queue = openvino.AsyncInferQueue(compiled, 1 if mode == "latency" else threads)
                self.variants[f"{graph}, {mode}"] = (compiled, queue)

    def encode(self, texts, order, variant):
        compiled, queue = self.variants[variant]
        dimension = compiled.outputs[0].partial_shape[1].get_length()
        embeddings = numpy.empty((len(texts), dimension), numpy.float32)

        def store(request, rows):
            embeddings[rows] = request.get_output_tensor(0).data

        queue.set_callback(store)
        for rows, inputs in padded_batches(self.tokenizer, texts, order):
            queue.start_async(inputs, rows)
        queue.wait_all()
        return embeddings


if __name__ == "__main__":
    encoder_peer.serve(openvino_peer)
