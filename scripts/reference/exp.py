#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the shifts by which lanes of exp reach its smallest and largest results (xsimd_lanes.hpp).

Needs mpmath. A shift is a multiple of the last place of the arguments there, so that to add it is exact, near half
the range of exponents, and of such numbers near each other that whose exponential is nearest to a number of the type.
"""
import mpmath as mp

mp.mp.prec = 300


def rounded(x, bits):
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def shift(bits, last_place, half_range, candidates=4096):
    first = mp.nint(mp.ldexp(half_range * mp.log(2), last_place))
    best = None
    for k in range(candidates):
        by = mp.ldexp(first + k, -last_place)
        for sign in (1, -1):
            exact = mp.exp(sign * by)
            scale = rounded(exact, bits)
            error = abs(scale / exact - 1)
            if best is None or sign not in best or error < best[sign][0]:
                best = best or {}
                best[sign] = (error, by, scale)
    return best


for name, bits, last_place, half_range in (("float", 24, 17, 63.5), ("double", 53, 43, 511.5)):
    for sign, (error, by, scale) in shift(bits, last_place, half_range).items():
        print(f"{name}: exp({float(sign * by).hex()}) = {float(scale).hex()}, off by 2^{float(mp.log(error, 2)):.1f}")
