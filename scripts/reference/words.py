#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes digests of the words that the peer makes of every code point, alone and among others.

    words.py --output tests/data/wordpiece/code_points.txt

Each line covers 4096 code points: the first of them and the 64-bit FNV-1a hash, in hexadecimal, of all
their words, each word followed by a zero byte. The peer is BertNormalizer and BertPreTokenizer of
HuggingFace tokenizers. The contexts are those of tests/sentence_encoder/unicode_test.cpp.
"""
import argparse

from tokenizers import normalizers, pre_tokenizers

# The marks are spacing ones of classes 216, 226 and 9, which move about the code point where it lets them.
CONTEXTS = ["{}", "a{}b", "\U0001d16d{}\U0001d165", "x\u1b44{}\u0301\u302e."]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--output", required=True)
    options = arguments.parse_args()
    normalise = normalizers.BertNormalizer().normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    with open(options.output, "w", encoding="ascii", newline="\n") as out:
        for first in range(0, 0x110000, 4096):
            digest = 0xCBF29CE484222325
            for c in range(first, first + 4096):
                if 0xD800 <= c < 0xE000:
                    continue
                for context in CONTEXTS:
                    for word, _ in split(normalise(context.format(chr(c)))):
                        for byte in word.encode("utf-8") + b"\0":
                            digest = ((digest ^ byte) * 0x100000001B3) & (2**64 - 1)
            out.write(f"{first:06x} {digest:016x}\n")


if __name__ == "__main__":
    main()
