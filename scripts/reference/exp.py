#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what include/topos/expr/detail/xsimd_exp.hpp computes exponentials with.

Needs mpmath. The polynomials p with exp(r) near 1 + r + r^2 p(r), 2^r near 1 + r p(r) and tanh(x) near x + x^3 p(x^2),
of least relative error, by Remez' exchange.
"""
import mpmath as mp

mp.mp.prec = 200
POINTS = 2000
STEPS = 8


def polynomial(name, degree, start, end, function, known, factor, rounded):
    """p of a degree, where function(r) = known(r) + factor(r) p(r) for r from start to end."""
    middle, reach = (start + end) / 2, (end - start) / 2
    wanted = lambda r: (function(r) - known(r)) / factor(r)
    scale = lambda r: factor(r) / function(r)  # of an error of p, in the result
    count = degree + 2
    # Moved, so that 0, where nothing is wanted of p, is none of them.
    nodes = [middle + reach * (mp.cos(mp.pi * (2 * i + 1) / (2 * count)) + mp.mpf("1e-9")) for i in range(count)]
    grid = [middle + reach * mp.cos(mp.pi * (i + mp.mpf(1) / 3) / POINTS) for i in range(POINTS)]
    for _ in range(STEPS):
        equations = mp.matrix(count, count)
        values = mp.matrix(count, 1)
        for i, r in enumerate(nodes):
            for k in range(degree + 1):
                equations[i, k] = r**k * scale(r)
            equations[i, degree + 1] = (-1) ** i
            values[i] = wanted(r) * scale(r)
        solved = mp.lu_solve(equations, values)
        p = [solved[k] for k in range(degree + 1)]
        errors = [(mp.polyval(p[::-1], r) - wanted(r)) * scale(r) for r in grid]
        # The largest error between changes of sign, the largest of these in a row.
        peaks = []
        for r, error in zip(grid, errors):
            if peaks and (peaks[-1][1] > 0) == (error > 0):
                if abs(error) > abs(peaks[-1][1]):
                    peaks[-1] = (r, error)
            else:
                peaks.append((r, error))
        while len(peaks) > count:
            peaks.pop(0 if abs(peaks[0][1]) < abs(peaks[-1][1]) else -1)
        if len(peaks) < count:
            break
        nodes = [r for r, _ in peaks]
    largest = max(abs(e) for e in errors)
    print(f"{name}: largest relative error 2^{float(mp.log(largest, 2)):.1f}")
    print("  " + ", ".join(rounded(c) for c in p))


as_float = lambda c: mp.nstr(mp.mpf(c), 9)
as_double = lambda c: mp.nstr(mp.mpf(c), 17)
more = 1 + mp.mpf(2) ** -10
half = mp.log(2) / 2 * more
for name, degree, rounded in (("exp, float", 4, as_float), ("exp, double", 9, as_double)):
    polynomial(name, degree, -half, half, mp.exp, lambda r: 1 + r, lambda r: r * r, rounded)
half = more / 2
for name, degree, rounded in (("exp2, float", 5, as_float), ("exp2, double", 10, as_double)):
    polynomial(name, degree, -half, half, lambda r: mp.mpf(2) ** r, lambda r: mp.mpf(1), lambda r: r, rounded)
for name, degree, rounded in (("tanh, float", 4, as_float), ("tanh, double", 10, as_double)):  # of y = x^2
    polynomial(name, degree, mp.mpf(0), mp.mpf(0.625) ** 2, lambda y: mp.tanh(mp.sqrt(y)) / mp.sqrt(y) if y > 0 else mp.mpf(1),
               lambda y: mp.mpf(1), lambda y: y, rounded)
