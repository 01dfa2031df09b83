# SPDX-License-Identifier: Apache-2.0
"""Texts to padded batches of token ids, for the peers that bring no tokenizer of their own."""
import pathlib

import numpy
from tokenizers import Tokenizer

BATCH_SIZE = 32
MAX_TOKENS = 256


def load_tokenizer(model):
    tokenizer = Tokenizer.from_file(str(pathlib.Path(model) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def padded_batches(tokenizer, texts, order):
    """Yields (rows, inputs): the places of up to 32 texts and the model's inputs for them, padded to the longest.

    order: input, or length, which puts texts of like length into the same batch.
    """
    encodings = tokenizer.encode_batch_fast(texts)
    places = list(range(len(texts)))
    if order == "length":
        places.sort(key=lambda place: len(encodings[place]))
    for start in range(0, len(places), BATCH_SIZE):
        rows = places[start : start + BATCH_SIZE]
        batch = [encodings[row].ids for row in rows]
        longest = max(map(len, batch))
        ids = numpy.array([row + [0] * (longest - len(row)) for row in batch], dtype=numpy.int64)
        lengths = numpy.array([len(row) for row in batch])
        mask = (numpy.arange(longest) < lengths[:, None]).astype(numpy.int64)
        yield rows, {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": numpy.zeros_like(ids),
        }
