#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the token ids that the model's own tokenizer gives each line of a file.

    tokens.py --model DIR --input FILE --output FILE [--max-tokens 256] [--peer tokenizers]

A text a line, ended by \\n alone, read as UTF-8 with what is not UTF-8 replaced by U+FFFD; the ids of a
text a line, blanks between, [CLS] and [SEP] included. --peer sentence-transformers asks that package's
tokenizer instead of the model's tokenizer.json.
"""
import argparse
import pathlib


def read_texts(path):
    lines = pathlib.Path(path).read_bytes().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.decode("utf-8", errors="replace") for line in lines]


def tokenizers_ids(model, max_tokens):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(pathlib.Path(model) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts)]


def sentence_transformers_ids(model, max_tokens):
    from sentence_transformers import SentenceTransformer

    transformer = SentenceTransformer(str(model), device="cpu")
    transformer.max_seq_length = max_tokens

    def ids(texts):
        features = transformer.preprocess(texts)
        lengths = features["attention_mask"].sum(dim=1).tolist()
        return [row[:n] for row, n in zip(features["input_ids"].tolist(), lengths)]

    return ids


def main():
    peers = {"tokenizers": tokenizers_ids, "sentence-transformers": sentence_transformers_ids}
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--model", required=True, help="the folder of the model")
    arguments.add_argument("--input", required=True, help="a text a line")
    arguments.add_argument("--output", required=True, help="where the ids go")
    arguments.add_argument("--max-tokens", type=int, default=256)
    arguments.add_argument("--peer", choices=peers, default="tokenizers")
    options = arguments.parse_args()
    ids_of = peers[options.peer](options.model, options.max_tokens)
    texts = read_texts(options.input)
    with open(options.output, "w", encoding="ascii", newline="\n") as out:
        for start in range(0, len(texts), 1000):
            for ids in ids_of(texts[start : start + 1000]):
                out.write(" ".join(map(str, ids)) + "\n")


if __name__ == "__main__":
    main()
