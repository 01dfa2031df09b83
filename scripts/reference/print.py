#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/tensor/print: arrays, and how NumPy prints them.

    print.py --output tests/data

Needs numpy 2.4. <dtype>.txt holds cases: a line "shape 2 3", a line "data" with the elements' bytes in hexadecimal
(or the word counted: see `counted`), a line "lines" with the number of lines that NumPy prints, and these.
"""
import argparse
import pathlib

import numpy as np

TYPES = {
    "bool": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64, "uint8": np.uint8,
    "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64, "float16": np.float16, "float32": np.float32,
    "float64": np.float64, "complex64": np.complex64, "complex128": np.complex128,
}
SHAPES = [(1,), (2,), (3,), (5,), (12,), (31,), (0,), (2, 3), (3, 1), (4, 11), (0, 3), (2, 2, 2), (1, 3, 2), (2, 1, 2, 3)]


def floats(random, kind, size):
    """Values of one magnitude or of many, short or long in decimal, with edges among them."""
    limits = np.finfo(kind)
    style = random.integers(8)
    with np.errstate(all="ignore"):
        if style == 0:
            x = random.normal(0, 1, size)
        elif style == 1:
            x = random.normal(0, 1, size) * 10.0 ** random.integers(-8, 9)
        elif style == 2:
            x = random.normal(0, 1, size) * 10.0 ** random.integers(-5, 6, size)
        elif style == 3:
            x = random.integers(-1000, 1000, size) / random.choice([1, 2, 4, 10, 100])
        elif style == 4:
            x = 10.0 ** random.integers(-6, 9, size)
        elif style == 5:
            x = np.ldexp(1.0, random.integers(limits.minexp - limits.nmant, limits.maxexp, size))
        elif style == 6:
            x = np.round(random.uniform(-1, 1, size), int(random.integers(0, 5)))
        else:
            bits = random.integers(0, 1 << (8 * np.dtype(kind).itemsize), size, dtype=np.uint64)
            x = bits.astype(f"u{np.dtype(kind).itemsize}").view(kind)
        x = np.asarray(x).astype(kind)
    if random.integers(3) == 0:
        edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, limits.max, limits.smallest_subnormal, 1], kind)
        place = random.random(size) < 0.3
        x = np.where(place, random.choice(edges, size), x)
    return np.abs(x) if random.integers(3) == 0 else x


def values(random, kind, size):
    kind = np.dtype(kind)
    if kind.kind == "b":
        return random.integers(0, 2, size).astype(kind)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        if random.integers(3) == 0:
            return random.integers(limits.min, limits.max, size, dtype=kind, endpoint=True)
        return random.integers(max(limits.min, -200), min(limits.max, 200), size).astype(kind)
    if kind.kind == "f":
        return floats(random, kind, size)
    part = {8: np.float32, 16: np.float64}[kind.itemsize]
    result = np.empty(size, kind)
    result.real = floats(random, part, size)
    result.imag = floats(random, part, size)
    return result


def counted(shape, kind):
    """A large array whose elements any program can make: (i % 1009) / 8 - 60, or the remainder alone where
    that is no number of the type."""
    remainder = np.arange(int(np.prod(shape))) % 1009
    kind = np.dtype(kind)
    x = remainder / 8 - 60 if kind.kind in "fc" else remainder % (2 if kind.kind == "b" else 100)
    return x.astype(kind).reshape(shape)


# Beside the threshold of 1000 elements, and beside twice the three that are shown at an edge.
LARGE = [(1001,), (1007, 2), (2, 600), (11, 12, 13)]
LARGEST = [(1000,), (7, 6, 5, 6), (6, 6, 6, 6), (3, 1, 400, 2)]  # long texts: of one type alone


def lines(array, data):
    text = str(array).split("\n")
    head = f"shape {' '.join(map(str, array.shape))}".rstrip()
    return [head, f"data {data}".rstrip(), f"lines {len(text)}", *text]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output / "tensor" / "print"
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, kind) in enumerate(TYPES.items()):
        random = np.random.default_rng(seed)
        many = {"f": 200, "c": 90}.get(np.dtype(kind).kind, 40)
        cases = []
        for number in range(many):
            shape = () if number % 5 == 0 else SHAPES[number % len(SHAPES)]
            array = values(random, kind, shape)
            array = np.asarray(array, kind)
            cases += lines(array, array.tobytes().hex())
        for shape in LARGE + (LARGEST if kind == np.float32 else []):
            cases += lines(counted(shape, kind), "counted")
        (folder / f"{name}.txt").write_text("\n".join(cases) + "\n")


if __name__ == "__main__":
    main()
