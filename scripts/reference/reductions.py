#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/tensor/reductions: sums, extrema, moments, softmax, scans and orders, by NumPy.

    reductions.py --output tests/data

Needs numpy. For each kind of numbers there is <kind>_x.npy, of shape (5, 7, 33), and <kind>_results.npy: for each
entry of AXES, the results of each entry of FUNCTIONS, one after the other, all in double precision, computed in it
from the stored elements. softmax.npy and log_softmax.npy hold those of real_x along each axis; <kind>_cumsum.npy and
<kind>_cumprod.npy (of the signs, twice them) those along each axis, <kind>_ascending.npy and
<kind>_descending.npy the stable orders. long_x.npy is a row over several chunks with its totals in long_results.npy, and
wide_x.npy a matrix of more rows and columns than a piece of one has.
"""
import argparse
import pathlib

import numpy as np

AXES = [None, 0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)]


def argument(function):
    """argmin and argmax take one axis or none: of several, zeros stand for them."""
    return lambda x, axis: function(x, axis=axis) if not isinstance(axis, tuple) else np.sum(0 * x, axis=axis)


def logsumexp(x, axis):
    most = np.max(x, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(x - most), axis=axis)) + np.max(x, axis=axis)


def logsumexp_kept(x, axis):
    return np.expand_dims(logsumexp(x, axis), axis)


FUNCTIONS = {
    "sum": np.sum,
    "prod": lambda x, axis: np.prod(np.sign(x) * (1 + (x != 0)), axis=axis) if axis in (0, 1) else np.sum(0 * x, axis=axis),
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "argmin": argument(np.argmin),
    "argmax": argument(np.argmax),
    "any": lambda x, axis: np.any(x > 3, axis=axis),
    "all": lambda x, axis: np.all(x < 3, axis=axis),
    "count_nonzero": np.count_nonzero,
    "var": np.var,
    "std": lambda x, axis: np.std(x, axis=axis, ddof=1),
    "norm": lambda x, axis: np.sqrt(np.sum(x * x, axis=axis)),
    "logsumexp": logsumexp,
}


def results(x, axes):
    x = x.astype(np.float64)
    return np.concatenate([np.ravel(f(x, axis=axis)).astype(np.float64) for axis in axes for f in FUNCTIONS.values()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output / "tensor" / "reductions"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(30)
    shape = (5, 7, 33)
    kinds = {
        "real": random.integers(-64, 64, shape) / 16,  # exact in every floating-point type
        "signed": random.integers(-9, 10, shape),
        "unsigned": random.integers(0, 14, shape),
        "bool": random.integers(0, 2, shape),
    }
    for kind, x in kinds.items():
        np.save(folder / f"{kind}_x.npy", x.astype(np.int8 if kind != "real" else np.float32))
        np.save(folder / f"{kind}_results.npy", results(x, AXES))
    axes = range(3)
    for kind, x in kinds.items():
        x = x.astype(np.float64)
        signs = 2 * np.sign(x)
        if kind != "bool":
            np.save(folder / f"{kind}_cumsum.npy", np.stack([np.cumsum(x, axis=a) for a in axes]).astype(np.float32))
            np.save(folder / f"{kind}_cumprod.npy", np.stack([np.cumprod(signs, axis=a) for a in axes[:2]]).astype(np.float32))
            for order, keys in {"ascending": x, "descending": -x}.items():
                places = np.stack([np.argsort(keys, axis=a, kind="stable") for a in axes])
                np.save(folder / f"{kind}_{order}.npy", places.astype(np.int8))
    x = kinds["real"]
    shares = [np.exp(x - logsumexp_kept(x, a)) for a in axes]
    np.save(folder / "softmax.npy", np.stack(shares).astype(np.float32))
    np.save(folder / "log_softmax.npy", np.stack([x - logsumexp_kept(x, a) for a in axes]).astype(np.float32))
    long = random.normal(3, 1, 20001).astype(np.float32)
    np.save(folder / "long_x.npy", long)
    np.save(folder / "long_results.npy", results(long, [None]))
    np.save(folder / "long_cumsum.npy", np.cumsum(long.astype(np.float64)).astype(np.float32))
    # 4200 columns over 6 rows, and as many rows: more than a piece across and down.
    wide = random.integers(-128, 128, (6, 4200)).astype(np.int8)
    np.save(folder / "wide_x.npy", wide)
    np.save(folder / "wide_sums.npy", np.concatenate([wide.sum(axis=a, dtype=np.int64).ravel() for a in (0, 1)]))
    np.save(folder / "wide_places.npy", np.concatenate([np.argmax(wide, axis=a).ravel() for a in (0, 1)]))


if __name__ == "__main__":
    main()
