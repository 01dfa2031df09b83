#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coefficients of include/topos/expr/detail/xsimd_erf.hpp.

    erf.py

Needs mpmath. Both are polynomials through the Chebyshev nodes of their interval: erf(x)/x in u = x^2 on [0, 1], and
exp(x^2) erfc(x) in t = (x - 2)/(x + 2) on [1, 6].
"""
import mpmath as mp

mp.mp.dps = 60


def through_chebyshev_nodes(function, low, high, degree):
    """The coefficients of the polynomial that meets a function at degree + 1 nodes, the constant first."""
    count = degree + 1
    middle, half = mp.mpf(low + high) / 2, mp.mpf(high - low) / 2
    nodes = [middle + half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    powers = mp.matrix(count, count)
    for i, node in enumerate(nodes):
        for j in range(count):
            powers[i, j] = node**j
    return mp.lu_solve(powers, mp.matrix([function(node) for node in nodes]))


def near(u):
    return mp.erf(mp.sqrt(u)) / mp.sqrt(u)


def far(t):
    x = 2 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x)


def main():
    third = mp.mpf(1) / 3
    for name, coefficients in (
        ("near", through_chebyshev_nodes(near, mp.mpf(0), mp.mpf(1), 11)),
        ("far", through_chebyshev_nodes(far, -third, mp.mpf(1) / 2, 14)),
    ):
        print(f"{name}: " + ", ".join(repr(float(c)) for c in coefficients))


if __name__ == "__main__":
    main()
