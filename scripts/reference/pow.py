#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coefficients of pow in include/topos/expr/detail/xsimd_by_double.hpp.

    pow.py

Needs mpmath. Polynomials through the Chebyshev nodes of their interval: log2((1 + s)/(1 - s))/s in s^2, where
(1 + s)/(1 - s) is in [sqrt(1/2), sqrt(2)], and 2^f in f on [-1/2, 1/2].
"""
import mpmath as mp

from erf import through_chebyshev_nodes


def log2(u):
    s = mp.sqrt(u)
    return 2 * mp.atanh(s) / s / mp.log(2)


def main():
    largest = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    for name, coefficients in (
        ("log2", through_chebyshev_nodes(log2, mp.mpf(0), largest, 5)),
        ("exp2", through_chebyshev_nodes(lambda f: mp.mpf(2) ** f, -mp.mpf(1) / 2, mp.mpf(1) / 2, 7)),
    ):
        print(f"{name}: " + ", ".join(repr(float(c)) for c in coefficients))


if __name__ == "__main__":
    main()
