#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/nn: operands and results of the layers of neural networks, by PyTorch.

    nn.py --output tests/data

Needs torch and safetensors. Results are computed in double precision from the stored float32 operands and
rounded once. One file for each case; the names in it are those of the layers' arguments.
"""
import argparse
import pathlib

import torch
from safetensors.torch import save_file
from torch.nn import functional

LENGTHS = [5, 1, 40, 7, 17, 8, 2, 16]
LINEAR = [(130, 37, 45), (130, 24, 33), (9, 1, 1), (9, 65, 129)]
ATTENTION = [(3, 8), (4, 9), (3, 16), (2, 32)]
EPSILON = 1e-12


def normal(generator, *extents):
    return torch.randn(*extents, generator=generator, dtype=torch.float32)


def linear(generator, rows, inputs, outputs):
    x, weight, bias = normal(generator, rows, inputs), normal(generator, outputs, inputs), normal(generator, outputs)
    product = x.double() @ weight.double().T
    biased = product + bias.double()
    return {
        "x": x,
        "weight": weight,
        "bias": bias,
        "product": product,
        "biased": biased,
        "product_gelu": functional.gelu(product),
        "biased_gelu": functional.gelu(biased),
    }


def layer_norm(generator, rows, columns):
    x = 2 * normal(generator, rows, columns) + 3
    x[1] = 1.5 + 1e-3 * x[1]  # hardly any variance
    weight, bias = normal(generator, columns), normal(generator, columns)
    y = functional.layer_norm(x.double(), [columns], weight.double(), bias.double(), EPSILON)
    return {"x": x, "weight": weight, "bias": bias, "y": y}


def attention(generator, heads, width):
    qkv = 2 * normal(generator, sum(LENGTHS), 3, heads, width)
    parts = []
    for part in qkv.double().split(LENGTHS):
        q, k, v = part.permute(1, 2, 0, 3)  # each: heads, rows, width
        parts.append(functional.scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1))
    return {"qkv": qkv.flatten(1), "lengths": torch.tensor(LENGTHS), "y": torch.cat(parts)}


def pooling(generator, columns):
    x = normal(generator, sum(LENGTHS), columns)
    means = torch.stack([part.mean(0) for part in x.double().split(LENGTHS)])
    return {"x": x, "lengths": torch.tensor(LENGTHS), "mean": means, "normalized": functional.normalize(means)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output / "nn"
    folder.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(21)
    cases = {f"linear_{m}x{k}x{n}": linear(generator, m, k, n) for m, k, n in LINEAR}
    cases |= {f"layer_norm_{columns}": layer_norm(generator, 9, columns) for columns in (1, 24, 33)}
    cases |= {f"attention_{heads}x{width}": attention(generator, heads, width) for heads, width in ATTENTION}
    cases |= {f"pooling_{columns}": pooling(generator, columns) for columns in (24, 33)}
    for name, tensors in cases.items():
        stored = {key: t.float() if t.is_floating_point() else t for key, t in tensors.items()}
        save_file({key: t.contiguous() for key, t in stored.items()}, folder / f"{name}.safetensors")


if __name__ == "__main__":
    main()
