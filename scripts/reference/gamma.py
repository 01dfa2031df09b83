#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coefficients of include/topos/expr/detail/xsimd_gamma.hpp.

    gamma.py

Needs mpmath. Polynomials through the Chebyshev nodes of their interval: log2(gamma(x))/(x - 2) in x - 2 on [-1, 1]; what
Stirling's formula leaves of log2(gamma(x)) where x is 3 or more, times x, in 1/x^2; and sin(pi r)/r in r^2, where |r| is at
most 1/2.
"""
import mpmath as mp

from erf import through_chebyshev_nodes

mp.mp.dps = 60


def log2_of_gamma(x):
    return mp.loggamma(x) / mp.log(2)


def near(r):
    return log2_of_gamma(2 + r) / r if abs(r) > mp.mpf(10) ** -25 else (1 - mp.euler) / mp.log(2)


def far(u):
    x = 1 / mp.sqrt(u)
    stirling = (x - mp.mpf(1) / 2) * mp.log(x, 2) - x / mp.log(2) + mp.log(2 * mp.pi, 2) / 2
    return (log2_of_gamma(x) - stirling) * x


def sine(u):
    r = mp.sqrt(u)
    return mp.sin(mp.pi * r) / r


def main():
    for name, coefficients in (
        ("near", through_chebyshev_nodes(near, -mp.mpf(1), mp.mpf(1), 16)),
        ("far", through_chebyshev_nodes(far, mp.mpf(0), mp.mpf(1) / 9, 3)),
        ("sine", through_chebyshev_nodes(sine, mp.mpf(0), mp.mpf(1) / 4, 5)),
    ):
        print(f"{name}: " + ", ".join(repr(float(c)) for c in coefficients))
    print(f"log2(2 pi) / 2: {float(mp.log(2 * mp.pi, 2) / 2)!r}, log2(e): {float(1 / mp.log(2))!r}")


if __name__ == "__main__":
    main()
