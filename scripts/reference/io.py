#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of tests/data/io with the peers' own writers, and tests/data/core/f16.txt.

    io.py --output tests/data

Needs numpy (2.x) and safetensors. tests/io reads these files and expects the values given here; files
that topos writes are compared to them byte for byte.
"""
import argparse
import pathlib

import numpy as np
from safetensors.numpy import save_file

NPY = {
    "f32_2x3": np.arange(6, dtype="<f4").reshape(2, 3) / 4,
    "f32_12345678x0": np.zeros((12345678, 0), "<f4"),
    "f64_3": np.array([1.5, -2.25, np.inf]),
    "f16_4": np.array([0, 1, -0.5, 65504], "<f2"),
    "i64_scalar": np.array(-7, "<i8"),
    "u8_1x1x5": np.arange(5, dtype="u1").reshape(1, 1, 5),
    "bool_3": np.array([True, False, True]),
    "c64_2": np.array([1 + 2j, 3 - 4j], "<c8"),
    "f32_big_endian": np.arange(2, dtype=">f4"),
    "f32_fortran": np.asfortranarray(np.arange(6, dtype="<f4").reshape(2, 3)),
    "f64_fortran_big_endian": np.asfortranarray(np.arange(12, dtype=">f8").reshape(2, 3, 2)),
    "i16_fortran_5": np.asfortranarray(np.arange(5, dtype="<i2")),
    "c64_big_endian": np.array([1 + 2j, 3 - 4j], ">c8"),
    "structure": np.zeros(2, [("a", "<f4"), ("b", "<i4")]),
}
TENSORS = {
    "weight": np.arange(6, dtype="<f4").reshape(2, 3) / 4,
    "bias": np.array([1.5, -2.25]),
    "half": np.array([0, 1, -0.5, 65504], "<f2"),
    "ids": np.array([[1, -2], [3, -4]], "<i8"),
    "i32": np.array([-5], "<i4"),
    "i16": np.array([-6, 7], "<i2"),
    "i8": np.array([-8], "i1"),
    "u64": np.array([2**64 - 1], "<u8"),
    "u32": np.array([2**32 - 1], "<u4"),
    "u16": np.array([2**16 - 1], "<u2"),
    "u8": np.array([255], "u1"),
    "mask": np.array([True, False, True]),
    "scalar": np.array(0.5, "<f4"),
    "empty": np.zeros((0, 3), "<f4"),
    "naïve/名前 \"x\"\n": np.array([42.0], "<f4"),
}
METADATA = {"note": "café \U0001f600 \"quoted\"\\"}


def half_lines():
    """Floats at and beside roundings of binary16, with NumPy's conversion: both as bits in hexadecimal."""
    bits = [*range(0, 0x7C00, 0x1FD), 1, 2, 0x3FE, 0x3FF, 0x400, 0x401, 0x7BFF]
    below = np.array(bits, np.uint16)
    above = (below + np.uint16(1)).view(np.float16).astype(np.float64)
    below = below.view(np.float16).astype(np.float64)
    above[np.isinf(above)] = 65536  # where the next binary16 would be
    ties = ((below + above) / 2).astype(np.float32)
    values = [ties, np.nextafter(ties, np.float32(0)), np.nextafter(ties, np.float32(np.inf))]
    values = np.unique(np.concatenate([*values, np.float32([1e-45, 1e30, np.inf])]))
    with np.errstate(over="ignore"):
        converted = values.astype(np.float16)
    return [f"{a:08x} {b:04x}" for a, b in zip(values.view(np.uint32), converted.view(np.uint16))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    output = parser.parse_args().output
    folder = output / "io"
    for each in (folder, output / "core"):
        each.mkdir(parents=True, exist_ok=True)
    for name, array in NPY.items():
        np.save(folder / f"{name}.npy", array)
    for version in (2, 3):
        with open(folder / f"f32_2x3_v{version}.npy", "wb") as file:
            np.lib.format.write_array(file, NPY["f32_2x3"], version=(version, 0))
    save_file(TENSORS, folder / "tensors.safetensors", metadata=METADATA)
    (output / "core" / "f16.txt").write_text("\n".join(half_lines()) + "\n")


if __name__ == "__main__":
    main()
