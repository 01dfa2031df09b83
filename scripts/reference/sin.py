#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coefficients of sines of floats in include/topos/expr/detail/xsimd_trigonometry.hpp.

    sin.py

Needs mpmath and NumPy. The polynomials p of sin(r) = r + r^3 p(r^2) and of cos(r) = 1 + r^2 p(r^2), through the Chebyshev
nodes of their interval, where |r| is at most pi/4.
"""
import mpmath as mp
import numpy as np

from erf import through_chebyshev_nodes


def of_sine(u):
    """(sin(r) - r) / r^3 of u = r^2, by its series."""
    return sum((-1) ** (i + 1) * u**i / mp.factorial(2 * i + 3) for i in range(30))


def of_cosine(u):
    """(cos(r) - 1) / r^2 of u = r^2, by its series."""
    return sum((-1) ** (i + 1) * u**i / mp.factorial(2 * i + 2) for i in range(30))


def main():
    for name, function in (("sine", of_sine), ("cosine", of_cosine)):
        p = through_chebyshev_nodes(function, mp.mpf(0), mp.pi**2 / 16, 3)
        print(f"{name}: " + ", ".join(f"{np.float32(float(c)):.9g}" for c in p))


if __name__ == "__main__":
    main()
