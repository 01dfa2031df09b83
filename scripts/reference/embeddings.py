#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the embeddings that sentence-transformers gives each line of a file.

    embeddings.py --model DIR --input FILE --output FILE.npy [--batch-size 32] [--threads N]

A text a line, ended by \\n alone, read as UTF-8 with what is not UTF-8 replaced by U+FFFD. The output is float32,
one row per line in the order of the input.
"""
import argparse
import os

import numpy

from tokens import read_texts


def load(model, threads=None):
    """The model as sentence-transformers runs it on the CPU, from its folder alone."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer

    transformers.utils.logging.disable_progress_bar()
    if threads is not None:
        torch.set_num_threads(threads)
    return SentenceTransformer(str(model), device="cpu")


def encode(transformer, texts, batch_size=32):
    """[texts, dimension], of float32 unless the model was made double."""
    if not texts:
        return numpy.empty((0, transformer.get_embedding_dimension()), dtype=numpy.float32)
    return transformer.encode(
        texts, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True
    )


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--model", required=True, help="the folder of the model")
    arguments.add_argument("--input", required=True, help="a text a line")
    arguments.add_argument("--output", required=True, help="where the embeddings go, a .npy file")
    arguments.add_argument("--batch-size", type=int, default=32)
    arguments.add_argument("--threads", type=int, help="default: what PyTorch chooses")
    options = arguments.parse_args()
    embeddings = encode(
        load(options.model, options.threads), read_texts(options.input), options.batch_size
    )
    # Through an open file, because numpy.save would add .npy to a name without it.
    with open(options.output, "wb") as out:
        numpy.save(out, embeddings)


if __name__ == "__main__":
    main()
