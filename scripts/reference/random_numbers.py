#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/random/jax.safetensors: random numbers by JAX, in both of its layouts.

    random_numbers.py --output tests/data

Needs jax. Names are distribution/type/layout; values for arrays of each of SIZES elements follow one another,
all drawn from the key of SEED. "words" are words of arrays of more than 2^32, at chosen places.
"""
import argparse
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32

SEED = 42
SIZES = [1, 2, 3, 7, 16, 17, 33, 64, 257]
REALS = ["float16", "bfloat16", "float32", "float64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
SIGNED = ["int8", "int16", "int32", "int64"]
RANGES = [(0, 10), (-5, 100), (7, 3)]
LARGE = 1_000_003
NAMES = {"bool": "BOOL", "bfloat16": "BF16", "float16": "F16", "float32": "F32", "float64": "F64"}


def of_sizes(draw):
    return np.concatenate([np.asarray(draw((size,))).ravel() for size in SIZES])


def words_at(key, count, places):
    """Word i of `count` in the original layout, without the others: runs of 2^32 - 1 words have keys of their own."""
    run = 2**32 - 1
    keys = np.asarray(jax.random.split(key, count // run + 1))
    words = []
    for place in places:
        size = run if place // run < count // run else count % run
        half = (size + 1) // 2
        at = place % run
        first = at if at < half else at - half
        second = first + half if first + half < size else 0
        pair = threefry_2x32(keys[place // run], np.array([first, second], np.uint32))
        words.append(int(pair[0 if at < half else 1]))
    return np.array(words, np.uint32)


def cases():
    random = jax.random
    key = random.PRNGKey(SEED)
    yield "split", np.concatenate([np.asarray(random.split(key, n)).ravel() for n in (1, 2, 3, 4, 9)])
    chain = key
    for step in range(5):
        chain = random.fold_in(random.split(chain, 3)[step % 3], 1000 * step)
    yield "split_chain", np.asarray(chain)
    for name in UNSIGNED:
        yield f"bits/{name}", of_sizes(lambda shape: random.bits(key, shape, name))
        large = np.asarray(random.bits(key, (LARGE,), name)).astype(np.uint64)
        numbers = np.arange(LARGE, dtype=np.uint64)
        yield f"bits_sums/{name}", np.array([large.sum(dtype=np.uint64), (large * numbers).sum(dtype=np.uint64)])
    for name in REALS:
        draws = {
            "uniform": lambda shape: random.uniform(key, shape, name),
            "uniform_between": lambda shape: random.uniform(key, shape, name, -3.1, 7.3),
            "normal": lambda shape: random.normal(key, shape, name),
            "truncated_normal": lambda shape: random.truncated_normal(key, -1.5, 0.7, shape, name),
            "truncated_normal_far": lambda shape: random.truncated_normal(key, 10, 20, shape, name),
            "truncated_normal_below": lambda shape: random.truncated_normal(key, -np.inf, 0, shape, name),
            "exponential": lambda shape: random.exponential(key, shape, name),
            "gumbel": lambda shape: random.gumbel(key, shape, name),
        }
        for distribution, draw in draws.items():
            yield f"{distribution}/{name}", of_sizes(draw)
    for name in SIGNED + UNSIGNED:
        info = np.iinfo(name)
        for low, high in RANGES + [(int(info.min), int(info.max) + (info.bits < 64))]:
            if low >= info.min and high <= int(info.max) + 1:
                low, high = (np.array(v, np.uint64 if name == "uint64" else np.int64) for v in (low, high))
                yield f"randint_{low}_{high}/{name}", of_sizes(lambda shape: random.randint(key, shape, low, high, name))
    for name in ("float32", "float64"):
        yield f"bernoulli/{name}", of_sizes(lambda shape: random.bernoulli(key, jnp.asarray(0.3, name), shape))
        for alpha in (0.3, 1.0, 4.5):
            yield f"gamma_{alpha}/{name}", of_sizes(lambda shape: random.gamma(key, alpha, shape, name))
        logits = jnp.asarray(np.linspace(-2, 1, 5), name)
        yield f"categorical/{name}", of_sizes(lambda shape: random.categorical(key, logits, shape=shape)).astype(np.int32)
        rows = jnp.asarray(np.sin(np.arange(28.0)).reshape(7, 4), name)
        yield f"categorical_rows/{name}", np.asarray(random.categorical(key, rows)).astype(np.int32)
        yield f"categorical_columns/{name}", np.asarray(random.categorical(key, rows, axis=0)).astype(np.int32)
        p = jnp.asarray([0.1, 0.2, 0.0, 0.3, 0.4], name)
        yield f"choice_p/{name}", of_sizes(lambda shape: random.choice(key, 5, shape, p=p)).astype(np.int32)
        yield f"choice_p_once/{name}", np.asarray(random.choice(key, 5, (4,), replace=False, p=p)).astype(np.int32)
    for size in (1, 2, 10, 1625, 1626, 5000):
        yield f"permutation/{size}", np.asarray(random.permutation(key, size)).astype(np.int32)
    yield "permutation_rows", np.asarray(random.permutation(key, jnp.arange(33, dtype=jnp.int32).reshape(11, 3)))
    for rank, shape in enumerate([(33,), (50, 40), (3, 7, 5)]):
        numbers = jnp.arange(np.prod(shape), dtype=jnp.int32).reshape(shape)
        for axis in range(rank + 1):
            yield f"permutation_independent/{rank}/{axis}", np.asarray(
                random.permutation(key, numbers, axis, independent=True))
    yield "choice/int64", of_sizes(lambda shape: random.choice(key, 1000, shape)).astype(np.int64)
    yield "choice_once", np.asarray(random.choice(key, 1000, (50,), replace=False)).astype(np.int32)


def write(path, tensors):
    header, offset = {}, 0
    for name, values in tensors.items():
        kind = values.dtype.name
        kind = NAMES.get(kind) or kind[0].upper() + kind.lstrip("uint")
        header[name] = {"dtype": kind, "shape": values.shape, "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for values in tensors.values():
            file.write(values.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output / "random"
    folder.mkdir(parents=True, exist_ok=True)
    jax.config.update("jax_enable_x64", True)
    groups = {}
    for layout in ("original", "partitionable"):
        jax.config.update("jax_threefry_partitionable", layout == "partitionable")
        for name, values in cases():
            group = groups.setdefault(name.split("/")[0].split("_")[0], {})
            group[f"{name}/{layout}"] = np.ascontiguousarray(values)
    jax.config.update("jax_threefry_partitionable", False)
    count = 2 * (2**32 - 1) + 7
    places = [0, 1, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**32 + 5, count - 8, count - 7, count - 1]
    groups["bits"]["words/places"] = np.array(places)
    groups["bits"]["words/original"] = words_at(jax.random.PRNGKey(SEED), count, places)
    for name, tensors in groups.items():
        write(folder / f"{name}.safetensors", tensors)


if __name__ == "__main__":
    main()
