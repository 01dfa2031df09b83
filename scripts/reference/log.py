# SPDX-License-Identifier: Apache-2.0
"""Prints what include/topos/expr/detail/xsimd_log.hpp computes logarithms with.

The polynomials p with log(1 + r) near r + r^2 p(r): of least relative error, by Lawson's reweighted least squares
(C. L. Lawson, 1961) on Chebyshev nodes, in long double where it matters. The tables of c near 1 / m, and -log c, by the
first four binary digits of m in [3/4, 3/2), and for the eight intervals of [23/32, 23/16) about multiples of 1/16 below 1
and of 1/8 from there on: of the numbers about the middle of an interval those whose logarithm is nearest to a float's
value; and the same of double, of three bases at once, where the polynomial goes through the Chebyshev
nodes of its interval.

Needs mpmath and NumPy.
"""
import math
from decimal import Decimal, getcontext

import mpmath as mp
import numpy as np

from erf import through_chebyshev_nodes

NODES = 4000
STEPS = 400
TRIED = 20000


def polynomial(degree, low, high):
    r = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    wide = np.longdouble(r)
    exact = np.log1p(wide)
    wanted = np.float64((exact - wide) / wide**2)
    scale = np.abs(np.float64(wide**2 / exact))  # of an error of p, in the result
    powers = np.vander(r / high, degree + 1, increasing=True)
    weights = np.ones(NODES)
    for _ in range(STEPS):
        by = np.sqrt(weights) * scale
        coefficients, *_ = np.linalg.lstsq(powers * by[:, None], wanted * by, rcond=None)
        error = np.abs(powers @ coefficients - wanted) * scale
        weights *= error / error.max() + 1e-9
        weights /= weights.mean()
    print(f"p on [{low:.4f}, {high:.4f}], largest relative error {error.max():.2e}:")
    for c in coefficients / high ** np.arange(degree + 1):
        print(f"  {np.float32(c):.9g}")


def of_digits():
    """The interval of each of the first four digits of m in [1, 2), which those below 1 share with m / 2."""
    return [(1 + i / 16, 1 + (i + 1) / 16) if i < 8 else ((1 + i / 16) / 2, (1 + (i + 1) / 16) / 2) for i in range(16)]


def of_eighths():
    """The eight intervals between floats whose bits differ by 2^20, from 23/32 on."""
    ends = (0x3f380000 + (np.arange(9, dtype=np.int32) << 20)).view(np.float32)
    return [(float(first), float(past)) for first, past in zip(ends, ends[1:])]


def table(intervals, base=None):
    """Of the natural logarithm, or of that to a base, whose log e and log 2 are printed too."""
    getcontext().prec = 40
    of_e = 1 / Decimal(base).ln() if base else Decimal(1)
    print(f"first m, c, -log c to base {base or 'e'}, its relative error:")
    for first, past in intervals:
        c = np.float32(2 / (first + past))
        tried = [np.float32(1)] if first <= 1 <= past else (
            c.view(np.int32) + np.arange(-TRIED, TRIED, dtype=np.int32)).view(np.float32)
        best = None
        for c in tried:
            exact = -Decimal(float(c)).ln() * of_e
            rounded = np.float32(float(exact))
            error = abs((Decimal(float(rounded)) - exact) / exact) if exact else Decimal(0)
            if best is None or error < best[0]:
                best = error, c, rounded
        print(f"  {first:.5f} {best[1]:.9g} {best[2]:.9g} {float(best[0]):.1e}")
    if base:
        print(f"  log e: {in_two(of_e, np.float32(of_e))}")
        of_2 = Decimal(2).ln() * of_e
        print(f"  log 2: {in_two(of_2, np.float32(math.floor(of_2 * 2**16)) / 2**16)}")  # times a power it is exact


def in_two(exact, first):
    return f"{first:.9g} {np.float32(exact - Decimal(float(first))):.9g}"


def after_r(r):
    """(log(1 + r) - r) / r^2, by its series."""
    return sum((-1) ** (i + 1) * r**i / (i + 2) for i in range(40))


def units_off(exact):
    """By how many units in its last place the nearest double is off."""
    nearest = float(exact)
    return float(abs(mp.mpf(nearest) - exact)) / math.ulp(nearest)


def tables_of_doubles():
    mp.mp.dps = 60
    scales = {"e": mp.mpf(1), "2": 1 / mp.log(2), "10": 1 / mp.log(10)}
    print("of double: p: " + ", ".join(
        repr(float(c)) for c in through_chebyshev_nodes(after_r, -mp.mpf(1) / 32, mp.mpf(1) / 16, 9)))
    chosen = []
    for digits in range(16):
        first = 1 + digits / 16 if digits < 8 else (1 + digits / 16) / 2
        width = 1 / 16 if digits < 8 else 1 / 32
        middle = np.float64(1 / (first + width / 2))
        best = 1.0, 1.0
        for c in (middle.view(np.int64) + np.arange(-TRIED, TRIED)).view(np.float64) if 0 < digits < 15 else ():
            exact = -mp.log(mp.mpf(float(c)))
            if units_off(exact) < best[0]:
                best = min(best, (max(units_off(exact * scale) for scale in scales.values()), float(c)))
        chosen.append(best[1])
    print("c: " + ", ".join(map(repr, chosen)))
    for base, scale in scales.items():
        print(f"-log c, base {base}: " + ", ".join(repr(float(-mp.log(mp.mpf(c)) * scale)) for c in chosen))
        nearest = mp.mpf(float(scale))
        print(f"log e, base {base}: {float(nearest)!r}, {float(scale - nearest)!r}")
        of_2 = mp.log(2) * scale
        short = mp.floor(mp.ldexp(of_2, 41)) / mp.mpf(2) ** 41  # times a power it is exact
        print(f"log 2, base {base}: {float(short)!r}, {float(of_2 - short)!r}")


if __name__ == "__main__":
    polynomial(8, -1 / 3, 1 / 3)
    polynomial(3, -1 / 32, 1 / 16)
    polynomial(3, -1 / 18, 1 / 16)
    table(of_digits())
    for base in None, 2, 10:
        table(of_eighths(), base)
    tables_of_doubles()
