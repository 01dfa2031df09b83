#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coefficients of pow in include/topos/expr/detail/, xsimd_by_double.hpp and xsimd_pow.hpp.

    pow.py

Needs mpmath. Polynomials through the Chebyshev nodes of their interval: log2((1 + s)/(1 - s))/s in s^2, where
(1 + s)/(1 - s) is in [sqrt(1/2), sqrt(2)], and 2^f in f on [-1/2, 1/2]; of double what the first two terms of these leave,
and the constants of those in two parts.
"""
import mpmath as mp

from erf import through_chebyshev_nodes

mp.mp.dps = 80


def log2(u):
    s = mp.sqrt(u)
    return 2 * mp.atanh(s) / s / mp.log(2)


def log2_after_two_terms(u):
    """Of (log2((1 + s)/(1 - s)) - c s - c s^3 / 3) / s^5, by its series."""
    return sum(2 * u**i / ((2 * i + 5) * mp.log(2)) for i in range(60))


def exp2_after_two_terms(f):
    """Of (2^f - 1 - f log(2)) / f^2, by its series."""
    return sum(mp.log(2) ** (i + 2) * f**i / mp.factorial(i + 2) for i in range(60))


def in_two_parts(x):
    return float(x), float(x - mp.mpf(float(x)))


def main():
    largest = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    for name, coefficients in (
        ("log2", through_chebyshev_nodes(log2, mp.mpf(0), largest, 5)),
        ("exp2", through_chebyshev_nodes(lambda f: mp.mpf(2) ** f, -mp.mpf(1) / 2, mp.mpf(1) / 2, 7)),
        ("log2 of double", through_chebyshev_nodes(log2_after_two_terms, mp.mpf(0), largest, 7)),
        ("exp2 of double", through_chebyshev_nodes(exp2_after_two_terms, -mp.mpf(1) / 2, mp.mpf(1) / 2, 10)),
    ):
        print(f"{name}: " + ", ".join(repr(float(c)) for c in coefficients))
    for name, constant in (("2 / log(2)", 2 / mp.log(2)), ("a third of it", 2 / mp.log(2) / 3), ("log(2)", mp.log(2))):
        print(f"{name}: {in_two_parts(constant)}")


if __name__ == "__main__":
    main()
