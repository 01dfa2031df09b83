#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/expr/umath: NumPy's own validation sets of the functions of <cmath>.

    umath.py --output tests/data

Needs numpy, whose package holds the sets (numpy/_core/tests/data/umath-validation-set-*.csv, BSD-3-Clause): for each
function inputs, results that were computed in higher precision and rounded, and the units in the last place that a
result may be off by. <function>_<type>.npy has these three as its rows. All edges are kept, and every so many-th of
the other inputs.
"""
import argparse
import csv
import pathlib

import numpy as np

# NumPy's names, and <cmath>'s where they differ.
NAMES = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh",
    **{name: name for name in ("cbrt", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sin",
                               "sinh", "tan", "tanh")},
}
TYPES = {"np.float32": (np.float32, np.uint32), "np.float64": (np.float64, np.uint64)}
OTHERS = 240
EXTREMES = 16


def read(path, name):
    """(x, expected, units) of a type."""
    kind, bits = TYPES[name]
    with open(path, encoding="ascii") as file:
        lines = [line for line in csv.reader(file) if line and line[0] == name]
    column = lambda i: np.array([int(line[i], 16) for line in lines], bits).view(kind)
    return np.stack([column(1), column(2), np.array([line[3] for line in lines], kind)])


def kept(rows):
    """The columns that are kept, in their order."""
    x, expected, _ = rows
    small = np.finfo(x.dtype).tiny
    edge = ~np.isfinite(x) | ~np.isfinite(expected) | (np.abs(x) < small) | (np.abs(expected) < small)
    # Next to where results overflow, vanish or end.
    finite = np.flatnonzero(~edge)
    for values in (np.abs(x), np.abs(expected)):
        order = finite[np.argsort(values[finite], kind="stable")]
        edge[order[:EXTREMES]] = edge[order[-EXTREMES:]] = True
    others = np.flatnonzero(~edge)
    edge[others[:: max(1, len(others) // OTHERS)]] = True
    return rows[:, edge]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output / "expr" / "umath"
    folder.mkdir(parents=True, exist_ok=True)
    sets = pathlib.Path(np.__file__).parent / "_core" / "tests" / "data"
    for theirs, ours in NAMES.items():
        for name, (kind, _) in TYPES.items():
            rows = kept(read(sets / f"umath-validation-set-{theirs}.csv", name))
            np.save(folder / f"{ours}_{np.dtype(kind).name}.npy", rows)


if __name__ == "__main__":
    main()
