# SPDX-License-Identifier: Apache-2.0
"""Prints the polynomial of include/topos/expr/detail/xsimd_log.hpp: p with log(1 + r) near r + r^2 p(r) for |r| <= 1/3.

Of least relative error, by Lawson's reweighted least squares (C. L. Lawson, 1961) on Chebyshev nodes, in double.
"""
import numpy as np

DEGREE = 8
NODES = 4000
STEPS = 400


def main():
    r = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES) / 3
    exact = np.log1p(r)
    wanted = (exact - r) / r**2
    scale = np.abs(r**2 / exact)  # of an error of p, in the result
    powers = np.vander(3 * r, DEGREE + 1, increasing=True)
    weights = np.ones(NODES)
    for _ in range(STEPS):
        by = np.sqrt(weights) * scale
        coefficients, *_ = np.linalg.lstsq(powers * by[:, None], wanted * by, rcond=None)
        error = np.abs(powers @ coefficients - wanted) * scale
        weights *= error / error.max() + 1e-9
        weights /= weights.mean()
    print("largest relative error:", error.max())
    for c in coefficients * 3.0 ** np.arange(DEGREE + 1):
        print(f"{np.float32(c):.8g}")


if __name__ == "__main__":
    main()
