#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coefficients of include/topos/expr/detail/xsimd_erf.hpp, and of erfc in xsimd_by_double.hpp.

    erf.py

Needs mpmath. All are polynomials through the Chebyshev nodes of their interval: of double, erf(x)/x in u = x^2 on [0, 1]
and exp(x^2) erfc(x) in t = (x - 2)/(x + 2) on [1, 6], and on [0, 10.1] for erfc of float; for that of double
exp(x^2) erfc(x) (x + 9/16) in t = (x - 4)/(x + 4) on [5/8, 27.3]; of float, erf(x)/x - 1 in u = x^2 on [0, (15/16)^2] and
log2(erfc(x)) in x on [15/16, 3.95]; of float by a table, (erf(c + r) - erf(c))/r in r on [-2/15, 2/15], where c is of the numbers
near i/3.75, for i from 0 to 15, that whose erf is nearest to a float.
"""
import math
import struct

import mpmath as mp

mp.mp.dps = 60
TRIED = 20000


def through_chebyshev_nodes(function, low, high, degree, power=1):
    """The coefficients of the polynomial that meets a function at degree + 1 nodes, the constant first; a power has them closer
    to the lower end."""
    count = degree + 1
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = [low + (high - low) * ((1 + mp.cos(mp.pi * (2 * i + 1) / (2 * count))) / 2) ** power for i in range(count)]
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


def farther(t):
    x = 4 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x) * (x + mp.mpf(9) / 16)


def as_float(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def centre(i):
    """The float near i/3.75 whose erf is nearest to a float."""
    if i == 0:
        return 0.0
    (first,) = struct.unpack("i", struct.pack("f", i / 3.75))
    best = None
    for bits in range(first - TRIED, first + TRIED):
        (c,) = struct.unpack("f", struct.pack("i", bits))
        exact = math.erf(c)
        error = abs(exact - as_float(exact))
        if best is None or error < best[0]:
            best = error, c
    return best[1]


def pieces():
    """For each i: c, erf(c), and the coefficients."""
    end = 2 / mp.mpf(15)
    for i in range(16):
        c = mp.mpf(centre(i))

        def slope(r, c=c):
            return (mp.erf(c + r) - mp.erf(c)) / r if abs(r) > 1e-20 else 2 / mp.sqrt(mp.pi) * mp.exp(-c * c)

        yield [c, mp.erf(c), *through_chebyshev_nodes(slope, -end, end, 4)]


def main():
    third = mp.mpf(1) / 3
    for name, coefficients in (
        ("near", through_chebyshev_nodes(near, mp.mpf(0), mp.mpf(1), 11)),
        ("far", through_chebyshev_nodes(far, -third, mp.mpf(1) / 2, 14)),
        ("erfc", through_chebyshev_nodes(far, mp.mpf(-1), mp.mpf(81) / 121, 14)),
        ("erfc of double", through_chebyshev_nodes(farther, -mp.mpf(27) / 37, mp.mpf(233) / 313, 20)),
    ):
        print(f"{name}: " + ", ".join(repr(float(c)) for c in coefficients))
    edge = mp.mpf(15) / 16
    for name, coefficients in (
        ("near, of float", through_chebyshev_nodes(lambda u: near(u) - 1, mp.mpf(0), edge**2, 5)),
        ("log2(erfc), of float", through_chebyshev_nodes(lambda x: mp.log(mp.erfc(x), 2), edge, mp.mpf(3.95), 7, 2)),
    ):
        print(f"{name}: " + ", ".join(f"{as_float(c):.9g}F" for c in coefficients))
    for name, row in zip(("c", "erf(c)", "r", "r^2", "r^3", "r^4", "r^5"), zip(*pieces())):
        print(f"{name}: " + ", ".join(f"{as_float(c):.9g}F" for c in row))


if __name__ == "__main__":
    main()
