#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/expr: values of the elementwise functions and operators, by NumPy.

    elementwise.py --output tests/data

Needs numpy. Each value is computed in double precision from the stored operands and rounded once, so that
a test may count units in the last place. <type>_unary.npy has a row for x and one for each function of it,
in the order of FUNCTIONS; broadcast_<type>_result.npy has a block for each operator, in that of OPERATORS.
"""
import argparse
import math
import pathlib

import numpy as np

FUNCTIONS = {
    "negate": np.negative,
    "abs": np.abs,
    "square": np.square,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "erf": np.vectorize(math.erf),
    "gelu": lambda x: x / 2 * np.vectorize(math.erfc)(-x / math.sqrt(2)),
}
OPERATORS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
TYPES = {"f32": np.float32, "f64": np.float64}


def operands(random, kind):
    """Ordinary values, powers of ten, and the edges of the type's functions."""
    largest = {np.float32: 88.7, np.float64: 709.7}[kind]
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, np.inf, -np.inf, np.nan, largest, 0.99 * largest, -0.98 * largest]
    powers = 10.0 ** np.arange(-30, 31, 4)
    return np.concatenate([edges, powers, -powers, random.normal(0, 3, 90), random.uniform(-1, 1, 45)]).astype(kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output / "expr"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(20)
    for name, kind in TYPES.items():
        x = operands(random, kind)
        with np.errstate(all="ignore"):
            rows = [x] + [f(x.astype(np.float64)).astype(kind) for f in FUNCTIONS.values()]
        np.save(folder / f"{name}_unary.npy", np.stack(rows))
        a = random.normal(0, 2, (3, 1, 17)).astype(kind)
        b = random.normal(0, 2, (5, 1)).astype(kind)
        blocks = [f(a.astype(np.float64), b.astype(np.float64)).astype(kind) for f in OPERATORS.values()]
        np.save(folder / f"broadcast_{name}_a.npy", a)
        np.save(folder / f"broadcast_{name}_b.npy", b)
        np.save(folder / f"broadcast_{name}_result.npy", np.stack(blocks))


if __name__ == "__main__":
    main()
