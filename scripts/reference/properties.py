#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/properties: operations of random shapes, layouts and types, by NumPy.

    properties.py --output tests/data [--seed 1] [--times 1]

Needs numpy, ml_dtypes, and jax for how types promote. Each line of <group>.txt is a case: a function, its options, its
operands, `=`, the type and shape of the result, and where its numbers lie in <group>.safetensors; or `= refused` where
NumPy raises. An operand such as

    float32(33,1,5)@0:17[1:4:2,:,::-1]T(2,0,1)B(5,33,7)

has the numbers of row 0 of pool.npy from element 17 on, in the shape (33, 1, 5); is sliced as Python does, its axes are
put in the order of T, and it is broadcast to B. What pool.npy holds are whole numbers: `decoded` says what they stand
for in each type. They are chosen such that sums and products are exact, and so is the comparison; results that are not
are computed in double precision and rounded once to the type.

--times 100 makes a hundred times as many cases, and another seed others: to look for what a few do not find.
"""
import argparse
import json
import pathlib
import warnings

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
BF16 = ml_dtypes.bfloat16
TYPES = {
    "bool": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64, "uint8": np.uint8,
    "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64, "float16": np.float16, "bfloat16": BF16,
    "float32": np.float32, "float64": np.float64, "complex64": np.complex64, "complex128": np.complex128,
}  # fmt: skip
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]
# Rows of the pool.
PLAIN, FACTORS, SPECIAL, SMALL = range(4)
POOL_SIZE = 2039  # a prime, so that no axis repeats with it


def make_pool():
    random = np.random.default_rng(7)
    pool = np.zeros((4, POOL_SIZE), np.int16)
    pool[PLAIN] = random.integers(-64, 64, POOL_SIZE)
    pool[FACTORS] = random.choice([1, 2, 4, -1, -2, -4], POOL_SIZE)
    pool[SPECIAL] = random.integers(-64, 64, POOL_SIZE)
    some = random.random(POOL_SIZE) < 0.15
    pool[SPECIAL][some] = 1000 + random.integers(0, 6, np.count_nonzero(some))
    pool[SMALL] = random.integers(-4, 4, POOL_SIZE)
    return pool


def decoded(codes, row, kind):
    """The numbers of a type that codes stand for: 1000 and more are its edges."""
    if kind in COMPLEX:
        parts = decoded(codes, row, "float64")
        return (parts[0::2] + 1j * parts[1::2]).astype(TYPES[kind])
    codes = codes.astype(np.int64)
    if kind == "bool":
        return codes % 2 != 0
    if kind in INTEGERS:
        limits = np.iinfo(TYPES[kind])
        edges = [limits.max, limits.min, limits.max - 1, 0, limits.min + 1, 1 << (limits.bits // 2)]
        plain = np.abs(codes) if limits.min == 0 else codes
        return np.array([edges[c - 1000] if c >= 1000 else c for c in plain.tolist()], TYPES[kind])
    limits = ml_dtypes.finfo(TYPES[kind])
    edges = np.array([np.inf, -np.inf, np.nan, -0.0, float(limits.max), float(limits.tiny)])
    plain = codes / (2 if row == FACTORS else 16)
    return np.where(codes >= 1000, edges[np.clip(codes - 1000, 0, 5)], plain).astype(TYPES[kind])


def promoted(a, b):
    # No integer holds both: JAX takes its default float, double here; topos takes float.
    if {a, b} in ({"int64", "uint64"}, {"int32", "uint64"}, {"int16", "uint64"}, {"int8", "uint64"}):
        return "float32"
    return str(jax.numpy.promote_types(TYPES[a], TYPES[b]))


def floating(kind):
    return "float32" if kind in INTEGERS + ["bool"] else kind


def real(kind):
    return {"complex64": "float32", "complex128": "float64"}.get(kind, kind)


def summed(kind):
    if kind in INTEGERS + ["bool"]:
        return "uint64" if kind.startswith("u") else "int64"
    return kind


def wide(x):
    """The type in which results are computed that are not exact in their own."""
    kind = str(x.dtype)
    if kind in INTEGERS + ["bool"]:
        return x.astype(np.int64 if summed(kind) == "int64" else np.uint64)
    return x.astype(np.complex128 if kind in COMPLEX else np.float64)


class Group:
    """The cases of one file."""

    def __init__(self, seed, pool):
        self.random = np.random.default_rng(seed)
        self.pool = pool
        self.lines = []
        self.kept = {}
        self.sizes = {}

    # Chance.
    def roll(self, low, high):
        return int(self.random.integers(low, high + 1))

    def choose(self, values):
        return values[self.roll(0, len(values) - 1)]

    def chance(self, share):
        return self.random.random() < share

    def shape(self, rank, most=600, empty=0.06, long=True):
        """Mostly small extents; some beside the width of vectors, and now and then a long one."""
        while True:
            extents = [self.choose([1, 2, 3, 3, 5, 7]) for _ in range(rank)]
            for axis in range(rank):
                if self.chance(0.5 / rank):
                    extents[axis] = self.choose([15, 16, 17, 33, 64, 65])
            if long and rank > 0 and self.chance(0.08):
                extents[self.roll(0, rank - 1)] = self.choose([257, 500, 1025])
                most = max(most, 1100)
            if rank > 0 and self.chance(empty):
                extents[self.roll(0, rank - 1)] = 0
            if np.prod(extents, dtype=int) <= most:
                return tuple(extents)

    def operand(self, kind, shape, row=PLAIN):
        """Its text and its value, of a shape, by chance a view of other memory."""
        rank = len(shape)
        text_b = ""
        before = list(shape)
        if rank > 0 and self.chance(0.2):
            before[self.roll(0, rank - 1)] = 1
            text_b = "B(" + ",".join(map(str, shape)) + ")"
        axes = list(range(rank))
        text_t = ""
        if rank > 1 and self.chance(0.45):
            axes = [int(a) for a in self.random.permutation(rank)]
            if self.chance(0.3):
                axes = axes[::-1] if axes != list(range(rank)) else list(range(rank))[::-1]
            text_t = "T(" + ",".join(map(str, axes)) + ")"
        sliced = [0] * rank
        for i, axis in enumerate(axes):
            sliced[axis] = before[i]
        stored, slices = list(sliced), [":"] * rank
        if rank > 0 and self.chance(0.5):
            for axis in range(rank):
                if self.chance(0.7) and np.prod(stored, dtype=int) < 3000:
                    stored[axis], slices[axis] = self.sliced_axis(sliced[axis])
        text_s = "" if all(s == ":" for s in slices) else "[" + ",".join(slices) + "]"
        at = self.roll(0, POOL_SIZE - 1)
        size = int(np.prod(stored, dtype=int)) * (2 if kind in COMPLEX else 1)
        values = decoded(self.pool[row][(at + np.arange(size)) % POOL_SIZE], row, kind).reshape(stored)
        for axis, text in enumerate(slices):
            ends = [int(p) if p else None for p in text.split(":")]
            values = values[(slice(None),) * axis + (slice(*ends),)]
        values = np.broadcast_to(values.transpose(axes), shape)
        return f"{kind}({','.join(map(str, stored))})@{row}:{at}{text_s}{text_t}{text_b}", values

    def sliced_axis(self, extent):
        """An extent and a slice of it that leaves another."""
        step = self.choose([1, 1, 2, 3, -1, -1, -2])
        if extent == 0:
            return (0, f"::{step}") if self.chance(0.5) else (4, f"2:1:{abs(step)}")
        span = (extent - 1) * abs(step) + 1
        before, after = self.roll(0, 2), self.roll(0, 2)
        whole = before + span + after
        if step > 0:
            start = "" if before == 0 else str(self.choose([before, before - whole]))
            # The stop may be anywhere before the next step.
            stop = "" if after < step and self.chance(0.5) else str(self.choose([before + span, before + span - whole]))
            stop = "" if stop == "0" else stop
            if stop == "" and after >= step:
                whole -= after
                start = "" if before == 0 else str(before)
        else:
            first = before + span - 1
            start = "" if first == whole - 1 else str(self.choose([first, first - whole]))
            stop = "" if before < -step else str(before - 1)
        return whole, f"{start}:{stop}:{step}"

    def keep(self, values):
        """Where the numbers of a result are kept: in the smallest type that has them all."""
        values = np.ascontiguousarray(values).ravel()
        kind = str(values.dtype)
        if kind in COMPLEX:
            values = values.view(TYPES[real(kind)])
        elif kind == "bool":
            values = values.astype(np.int8)
        elif kind == "uint64":
            values = values.view(np.int64)
        integers = values.dtype.kind in "iu"
        for to in ["int8", "int16", "int32", "int64"] if integers else ["int8", "float16", "float32", "float64"]:
            with np.errstate(all="ignore"):
                small = values.astype(TYPES[to])
            if np.array_equal(small.astype(values.dtype), values, equal_nan=not integers and to != "int8"):
                break
        at = self.sizes.get(to, 0)
        self.kept.setdefault(to, []).append(small)
        self.sizes[to] = at + small.size
        return f"{to}@{at}"

    def case(self, function, options, operands, result):
        """`result` of None: it is refused."""
        words = [function, *options, *operands, "="]
        if result is None:
            words.append("refused")
        else:
            words += [f"{result.dtype}({','.join(map(str, result.shape))})", self.keep(result)]
        self.lines.append(" ".join(words))

    def write(self, folder, name):
        (folder / f"{name}.txt").write_text("\n".join(self.lines) + "\n")
        names = {"int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "float16": "F16", "float32": "F32",
                 "float64": "F64"}  # fmt: skip
        header, data, at = {}, b"", 0
        for kind, parts in sorted(self.kept.items()):
            raw = np.concatenate(parts).tobytes()
            shape = [self.sizes[kind]]
            header[kind] = {"dtype": names[kind], "shape": shape, "data_offsets": [at, at + len(raw)]}
            data += raw
            at += len(raw)
        text = json.dumps(header).encode()
        (folder / f"{name}.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)


# Elementwise operations.

PAIRS = [
    ("bool", "uint8"), ("int8", "uint8"), ("uint32", "int32"), ("int64", "uint64"), ("uint16", "float16"),
    ("float16", "bfloat16"), ("bfloat16", "int64"), ("bool", "float64"), ("float32", "complex64"),
    ("complex64", "float64"), ("int32", "int32"), ("float64", "float32"),
]  # fmt: skip
ARITHMETIC = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
OTHERS = {"equal": np.equal, "less": np.less, "remainder": np.remainder, "bitwise_xor": np.bitwise_xor}


def one_by_one(function, a, b):
    """A function of two Python numbers, modulo the type of the arrays."""
    bits = 8 * a.dtype.itemsize
    values = [function(int(x), int(y)) % (1 << bits) for x, y in zip(a.ravel(), b.ravel())]
    if a.dtype.kind == "i":
        values = [v - (1 << bits) if v >= 1 << (bits - 1) else v for v in values]
    return np.array(values, a.dtype).reshape(a.shape)


def by_numbers(function, bits):
    """What NumPy leaves open: a count of bits out of range is as one that is large, and of 0 a quotient is 0."""
    if function == "right_shift":
        return lambda x, y: x >> (y if 0 <= y < bits else bits)
    return lambda x, y: x // y if y else 0


def broadcast_shapes(g, count):
    rank = g.choose([0, 1, 1, 2, 2, 3, 3, 4, 5])
    whole = g.shape(rank, 400)
    shapes = []
    for _ in range(count):
        one = [1 if g.chance(0.2) else e for e in whole]
        shapes.append(tuple(one[g.roll(0, rank) if g.chance(0.25) else 0 :]))
    if g.chance(0.7):
        shapes[g.roll(0, count - 1)] = whole
    return shapes


def elementwise(g, times):
    for a_kind, b_kind in PAIRS:
        T = promoted(a_kind, b_kind)
        functions = ["add", "multiply", "divide", "where"]
        if T in COMPLEX:
            functions += ["subtract", "equal"]
        else:
            functions += ["less", "clip"]
            functions += ["floor_divide", "bitwise_xor", "right_shift"] if T in INTEGERS else ["subtract", "remainder"]
        for function in functions * (4 * times):
            row = SPECIAL if T not in COMPLEX and g.chance(0.5) else PLAIN
            extra = {"where": ["bool"], "clip": [b_kind]}.get(function, [])
            kinds = [a_kind, b_kind, *extra]
            # Shifts by numbers that leave something.
            rows = [row, SMALL if "shift" in function and g.chance(0.7) else row, row]
            made = [g.operand(k, s, r) for k, s, r in zip(kinds, broadcast_shapes(g, len(kinds)), rows)]
            with np.errstate(all="ignore"):
                a, b = (x.astype(TYPES[T]) for _, x in made[:2])
                if function == "divide":
                    result = np.divide(a.astype(TYPES[floating(T)]), b.astype(TYPES[floating(T)]))
                    if T in COMPLEX:
                        wider = np.complex128 if T == "complex64" else np.clongdouble
                        result = np.divide(a.astype(wider), b.astype(wider)).astype(TYPES[T])
                elif function == "where":
                    result = np.where(made[2][1], a, b)
                elif function == "clip":
                    result = np.minimum(np.maximum(a, b), made[2][1].astype(TYPES[T]))
                elif "shift" in function or function == "floor_divide":
                    a, b = np.broadcast_arrays(a, b)
                    result = one_by_one(by_numbers(function, 8 * a.dtype.itemsize), a, b)
                else:
                    result = {**ARITHMETIC, **OTHERS}[function](a, b)
            result = np.asarray(result)
            expected = {"divide": floating(T), "less": "bool", "equal": "bool"}.get(function, T)
            g.case(function, [], [t for t, _ in made], result.astype(TYPES[expected]))


# Reductions.

# Each function of some types: a test has a kernel for each.
REDUCED = {
    "bool": ["sum", "any", "argmax"],
    "uint8": ["sum", "max", "all"],
    "int32": ["sum", "prod"],
    "int64": ["sum", "argmin"],
    "complex64": ["sum", "prod", "var"],
    "float16": ["sum", "mean", "count_nonzero", "argmax"],
    "bfloat16": ["sum", "max", "norm"],
    "float64": ["sum", "std", "min", "argmin"],
    "float32": ["sum", "prod", "mean", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "var",
                "norm", "logsumexp", "softmax", "log_softmax"],
}  # fmt: skip
DROPPING = ["sum", "argmax"]  # of float32


def logsumexp(x, axis):
    most = np.max(x, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(x - most), axis=axis, keepdims=True)) + most


def reduced(function, x, kind, axis, ddof):
    """With the reduced axes kept, and the type of the result."""
    w = wide(x)
    how = {"axis": axis, "keepdims": True}
    if function in ("sum", "prod"):
        return getattr(np, function)(w, **how), summed(kind)
    if function == "mean":
        return np.mean(w, **how), floating(kind)
    if function in ("min", "max"):
        return getattr(np, function)(x, **how), kind
    if function in ("argmin", "argmax"):
        return getattr(np, function)(x, **how), "int64"
    if function in ("any", "all"):
        return getattr(np, function)(x != 0, **how), "bool"
    if function == "count_nonzero":
        return np.count_nonzero(x, **how), "int64"
    w = w.astype(np.complex128 if kind in COMPLEX else np.float64)
    if function in ("var", "std"):
        return getattr(np, function)(w, ddof=ddof, **how), real(floating(kind))
    if function == "norm":
        return np.sqrt(np.sum(np.abs(w) ** 2, **how)), real(floating(kind))
    if function == "logsumexp":
        return logsumexp(w, axis), floating(kind)
    if x.size == 0:
        return w, floating(kind)
    logs = w - logsumexp(w, axis)
    return np.exp(logs) if function == "softmax" else logs, floating(kind)


def reductions(g, times):
    for kind, functions in REDUCED.items():
        for function in functions * (12 * times):
            rank = g.choose([0, 1, 1, 2, 2, 3, 3, 4, 5])
            along = function in ("softmax", "log_softmax")
            if along:
                rank = max(rank, 1)
            # Products of more might overflow on the way, and those of complex numbers become inexact.
            most = (20 if kind in COMPLEX else 120) if function == "prod" else 150 if along else g.choose([600, 600, 6000])
            shape = g.shape(rank, most, 0.12, long=function != "prod")
            exact = function in ("any", "all", "count_nonzero", "min", "max", "argmin", "argmax")
            special = exact or (kind in INTEGERS and function in ("sum", "prod"))
            row = SPECIAL if special and kind not in COMPLEX and g.chance(0.5) else PLAIN
            text, x = g.operand(kind, shape, FACTORS if function == "prod" and row == PLAIN else row)
            axis = tuple(range(rank))
            name = "all"
            if rank > 0 and (along or g.chance(0.75)):
                one = function != "sum" or g.chance(0.5)
                # The longest of some, so that results are few.
                axis = min((tuple(int(a) for a in g.random.permutation(rank)[: 1 if one else g.roll(1, rank)])
                            for _ in range(1 if np.prod(shape, dtype=int) < 300 else 6)),
                           key=lambda axes: -np.prod([shape[a] for a in axes], dtype=int))  # fmt: skip
                name = ",".join(str(a if g.chance(0.5) else a - rank) for a in axis)
            options = ["axis=" + name]
            kept = kind != "float32" or function not in DROPPING or "," in name or g.chance(0.4)
            ddof = g.roll(0, 1) if function in ("var", "std") else 0
            if function in ("var", "std"):
                options.append(f"ddof={ddof}")
            if not along:
                options.append("keep" if kept else "drop")
            single = axis[0] if name != "all" and len(axis) == 1 else axis
            if name == "all" and function.startswith("arg"):
                single = None
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    value, to = reduced(function, x, kind, single, ddof)
                    result = np.asarray(value).astype(TYPES[to])
                    if not kept:
                        result = result.reshape([e for i, e in enumerate(shape) if i not in axis])
                except ValueError:
                    result = None
            g.case(function, options, [text], result)


# Scans, orders, and elements by index.

ORDERED = {
    "uint8": ["cumsum", "sort", "topk_values", "topk_indices"],
    "int64": ["argsort"],
    "bool": ["argsort"],
    "float16": ["cumsum", "argsort"],
    "bfloat16": ["sort"],
    "float64": ["sort"],
    "float32": ["cumsum", "cumsum_flat", "cumprod", "sort", "argsort", "topk_values", "topk_indices"],
}


def ranks_of(x):
    """Whole numbers in the order of the elements: NaN is the largest."""
    return np.unique(x.astype(np.float64) if str(x.dtype) in ("float16", "bfloat16", "bool") else x,
                     return_inverse=True, equal_nan=True)[1].reshape(x.shape)  # fmt: skip


def axis_of(g, rank, last=0):
    axis = g.roll(0, rank - 1 + last)
    return axis, f"axis={axis if g.chance(0.5) else axis - rank - last}"


def orders(g, times):
    for kind, functions in ORDERED.items():
        for function in functions * (14 * times):
            flat = function == "cumsum_flat"
            function = "cumsum" if flat else function
            rank = g.choose([1, 1, 2, 2, 3, 4, 5])
            scan = function.startswith("cum")
            special = not scan and g.chance(0.5)
            row = FACTORS if function == "cumprod" else SPECIAL if special else g.choose([PLAIN, PLAIN, SMALL])
            shape = g.shape(rank, 300)
            text, x = g.operand(kind, shape, row)
            axis, name = axis_of(g, rank)
            options = [name]
            if scan:
                with np.errstate(over="ignore"):
                    values = getattr(np, function)(wide(x), axis=None if flat else axis)
                with np.errstate(over="ignore"):  # in sixteen bits
                    result = values.astype(TYPES[summed(kind)])
                if flat:
                    options = ["axis=all"]
            else:
                ranks = ranks_of(x)
                order = np.argsort(ranks, axis=axis, kind="stable")
                if function.startswith("topk"):
                    k = g.roll(0, shape[axis])
                    options.append(f"k={k}")
                    order = np.take(np.argsort(-ranks, axis=axis, kind="stable"), np.arange(k), axis=axis)
                values = function in ("sort", "topk_values")
                result = np.take_along_axis(x, order, axis) if values else order
                if function == "topk_values":
                    result = result + np.zeros((), x.dtype) if kind.endswith(("16", "32", "64")) else result
                    result = result.astype(TYPES[kind])
            g.case(function, options, [text], result)


PICKED = ["uint32", "complex64", "float16", "float32"]


def in_range(index, count):
    """Counted from the end where negative, and held within an axis."""
    return np.clip(np.where(index < 0, index + count, index), 0, max(count - 1, 0))


def indexed(g, times):
    for kind in PICKED:
        for function in ["take", "gather", "scatter", "scatter_add", "concatenate", "stack", "split"] * (9 * times):
            rank = 2 if function.startswith("scatter") else g.roll(1, 3)
            shape = g.shape(rank, 60, long=False)
            axis, name = axis_of(g, rank, 1 if function == "stack" else 0)
            options = [name]
            result = None
            text, x = g.operand(kind, shape)
            operands = [text]
            index_row = SMALL if g.chance(0.8) else PLAIN
            if function == "take":
                index_text, index = g.operand("int32", g.shape(2, 9, long=False), index_row)
                operands.append(index_text)
                if shape[axis] != 0 or index.size == 0:
                    result = np.take(x, in_range(index.astype(np.int64), shape[axis]), axis=axis) if shape[axis] else (
                        np.zeros(shape[:axis] + index.shape + shape[axis + 1 :], x.dtype))  # fmt: skip
            elif function == "gather":
                beside = [e if g.chance(0.7) else 1 for e in shape]
                beside[axis] = g.choose([1, 2, 5, 17])
                index_text, index = g.operand("int64", tuple(beside), index_row)
                operands.append(index_text)
                whole = list(shape)
                whole[axis] = beside[axis]
                if shape[axis] != 0 or index.size == 0:
                    if shape[axis] == 0:
                        continue
                    picked = in_range(np.broadcast_to(index, whole).astype(np.int64), shape[axis])
                    result = np.take_along_axis(x, picked, axis=axis)
            elif function in ("scatter", "scatter_add"):
                options = []
                count = g.choose([0, 1, 2, 5, 17])
                index_text, index = g.operand("int32", (count,), index_row)
                more_text, more = g.operand(kind, (count, *shape[1:]))
                operands += [index_text, more_text]
                at = index.astype(np.int64)
                at = np.where(at < 0, at + shape[0], at)
                there = (at >= 0) & (at < shape[0])
                result = x.astype(TYPES[kind]).copy()
                if function == "scatter":
                    result[at[there]] = more[there]
                else:
                    np.add.at(result, at[there], more[there])
            elif function in ("concatenate", "stack"):
                parts = [x]
                for _ in range(g.roll(0, 3)):
                    other = list(shape)
                    if function == "concatenate":
                        other[axis] = g.choose([0, 1, 2, 3, 17])
                    part_text, part = g.operand(kind, tuple(other))
                    operands.append(part_text)
                    parts.append(part)
                result = getattr(np, function)(parts, axis=axis)
            elif g.chance(0.5):
                count = g.choose([1, 2, 3, 5])
                options.append(f"parts={count}")
                if shape[axis] % count == 0:
                    number = g.roll(0, count - 1)
                    options.append(f"number={number}")
                    result = np.split(x, count, axis=axis)[number]
            else:
                cuts = [g.roll(-3, shape[axis]) for _ in range(g.roll(1, 3))]
                number = g.roll(0, len(cuts))
                options += ["at=" + ",".join(map(str, cuts)), f"number={number}"]
                result = np.split(x, cuts, axis=axis)[number]
            g.case(function, options, operands, result)


# Products.

MATRICES = [(2, 2), (2, 2), (3, 3), (4, 4), (4, 2), (2, 3)]
VECTORS = [(1, 1), (1, 2), (2, 1), (1, 3), (4, 1)]
MULTIPLIED = {
    "int32": MATRICES,
    "float16": MATRICES + VECTORS,
    "complex64": MATRICES,
    "float64": MATRICES,
    "float32": MATRICES + VECTORS,
}


def products(g, times):
    def extent():
        return g.choose([1, 2, 3, 5, 7, 15, 16, 17, 33]) if not g.chance(0.06) else g.choose([0, 64, 65, 130])

    for kind, all_ranks in MULTIPLIED.items():
        for ranks in all_ranks * (6 * times):
            while True:
                m, n, k = extent(), extent(), extent()
                if g.chance(0.05):
                    k = 700
                batch = g.shape(max(*ranks, 2) - 2, 12)
                shapes = []
                for rank, last in zip(ranks, [(m, k), (k, n)]):
                    if rank == 1:
                        shapes.append((k,))
                        continue
                    own = [1 if g.chance(0.25) else e for e in batch]
                    shapes.append((*own[len(own) - (rank - 2) :], *last))
                if max(np.prod(s, dtype=int) for s in shapes) <= 4000 and m * n * np.prod(batch, dtype=int) <= g.choose([200, 200, 600]):
                    break
            made = [g.operand(kind, s) for s in shapes]
            result = np.matmul(wide(made[0][1]), wide(made[1][1]))
            with np.errstate(over="ignore"):
                g.case("matmul", [], [t for t, _ in made], np.asarray(result).astype(TYPES[kind]))
        for count in [1, 2] * (8 * times if kind in ("int32", "float32") else 0):
            ranks = (3, 3)
            summed_over = g.shape(count, 300)
            shapes, named = [], []
            for rank in ranks:
                places = [int(a) for a in g.random.permutation(rank)[:count]]
                extents = [g.choose([1, 2, 3, 5]) for _ in range(rank)]
                for place, e in zip(places, summed_over):
                    extents[place] = e
                shapes.append(tuple(extents))
                named.append(places)
            made = [g.operand(kind, s) for s in shapes]
            result = np.tensordot(wide(made[0][1]), wide(made[1][1]), axes=named)
            names = [",".join(str(a if g.chance(0.5) else a - r) for a in axes) for axes, r in zip(named, ranks)]
            g.case("tensordot", ["a=" + names[0], "b=" + names[1]], [t for t, _ in made], np.asarray(result).astype(TYPES[kind]))
        for _ in range(8 * times if kind in ("float16", "float32") else 0):
            made = [g.operand(kind, g.shape(2, 15, long=False)), g.operand(kind, g.shape(1, 17, long=False))]
            result = np.outer(made[0][1], made[1][1])
            g.case("outer", [], [t for t, _ in made], result.astype(TYPES[kind]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=1)
    args = parser.parse_args()
    folder = args.output / "properties"
    folder.mkdir(parents=True, exist_ok=True)
    pool = make_pool()
    np.save(folder / "pool.npy", pool)
    for number, make in enumerate([elementwise, reductions, orders, indexed, products]):
        g = Group([args.seed, number], pool)
        make(g, args.times)
        g.write(folder, make.__name__)


if __name__ == "__main__":
    main()
