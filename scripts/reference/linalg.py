#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/linalg: products of matrices by NumPy.

    linalg.py --output tests/data

Needs numpy. Operands are cut from a pool of small integers, over and over: a from its start, b from SHIFT on. Real
numbers are integers over 64, so that their products, and sums of a thousand of those, are exact in float32 in any
order, and results of fewer bits are rounded once. Complex numbers take two integers of the pool, bool is an odd one.
The results of all CASES follow each other in one array for each kind of number; of a large one, each step-th element.
"""
import argparse
import pathlib

import numpy as np

SHIFT = 501
MOST = 600  # elements kept of one result
MATMUL = [
    ((3,), (3,)), ((0,), (0,)), ((5,), (5, 4)), ((4, 5), (5,)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)),
    ((1, 1), (1, 1)), ((1, 7), (7, 1)), ((2, 3), (3, 4)), ((7, 5), (5, 9)), ((8, 16), (16, 48)), ((9, 17), (17, 49)),
    ((17, 33), (33, 64)), ((131, 40), (40, 103)), ((33, 600), (600, 97)), ((40, 1000), (1000, 5)),
    ((2, 0, 3), (2, 3, 2)), ((3, 64, 32), (3, 32, 80)), ((3, 2, 3), (3, 4)), ((2, 3), (4, 3, 5)), ((5,), (2, 5, 3)), ((2, 3, 5), (5,)),
    ((2, 1, 3, 4), (5, 4, 2)), ((3, 1, 2, 3), (1, 4, 3, 2)), ((1, 2, 1, 3, 2, 2), (2, 3, 1, 2, 3)),
    ((1, 2, 1, 2, 1, 1, 2, 3), (2, 1, 2, 2, 1, 2, 3, 1)),
]
TENSORDOT = [
    ((3, 4, 5), (4, 3, 2), ([1, 0], [0, 1])), ((3, 4, 5), (5, 4), ([2, 1], [0, 1])), ((3, 4, 5), (4, 5, 2), 2),
    ((2, 3), (4, 5), 0), ((6,), (6,), 1), ((2, 3, 4), (3, 5, 2, 4), ([-1, 0], [3, 2])), ((2, 0), (0, 3), 1),
]


def elements(kind, pool, shift, shape):
    size = int(np.prod(shape))
    at = (np.arange(2 * size) + shift) % pool.size
    if kind == "complex":
        pairs = pool[at].reshape(size, 2) / 64
        return (pairs[:, 0] + 1j * pairs[:, 1]).reshape(shape)
    values = pool[at[:size]].reshape(shape)
    return {"real": values / 64, "int": values.astype(np.int64), "bool": values % 2 != 0}[kind]


def kept(values):
    values = np.asarray(values).reshape(-1)
    return values[:: values.size // MOST + 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output / "linalg"
    folder.mkdir(parents=True, exist_ok=True)
    pool = np.random.default_rng(4).integers(-127, 128, 997).astype(np.int8)
    np.save(folder / "pool.npy", pool)
    pool = pool.astype(np.int64)
    for kind in ("real", "complex", "int", "bool"):
        results = []
        for a, b in MATMUL:
            results.append(kept(np.matmul(elements(kind, pool, 0, a), elements(kind, pool, SHIFT, b))))
        joined = np.concatenate(results)
        np.save(folder / f"matmul_{kind}.npy", joined.astype(np.uint8) if kind == "bool" else joined)
    results = [kept(np.tensordot(elements("real", pool, 0, a), elements("real", pool, SHIFT, b), axes))
               for a, b, axes in TENSORDOT]
    np.save(folder / "tensordot_real.npy", np.concatenate(results))


if __name__ == "__main__":
    main()
