# SPDX-License-Identifier: Apache-2.0
"""sentence-transformers on PyTorch. It sorts the texts by length itself, so that both orders are one.

Besides its one variant it encodes in float64, to which all sides can be compared.
"""
import copy

import encoder_peer
from batches import BATCH_SIZE
from embeddings import encode, load


class sentence_transformers_peer:
    variants = ["encode"]

    def __init__(self, model, onnx, threads):
        del onnx
        self.transformer = load(model, threads)
        import sentence_transformers
        import torch
        import transformers

        self.versions = {
            "sentence-transformers": sentence_transformers.__version__,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    def encode(self, texts, order, variant):
        del order
        if variant == "float64":
            return encode(copy.deepcopy(self.transformer).double(), texts, BATCH_SIZE)
        return encode(self.transformer, texts, BATCH_SIZE)


if __name__ == "__main__":
    encoder_peer.serve(sentence_transformers_peer)
