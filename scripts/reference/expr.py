#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/expr: values of expressions, by NumPy, JAX, mpmath and exact arithmetic.

    expr.py --output tests/data

Needs numpy, ml_dtypes, jax and mpmath. Rows of a file are operands, then results in the order in which the tables
here name them. Elements of float16 and bfloat16 are written as the uint16 of their bits.
Functions are computed in double precision from the stored operands and rounded once, so that a test may count
units in the last place; arithmetic is NumPy's own in the type itself (ml_dtypes' for bfloat16).
"""
import argparse
import cmath
import math
import pathlib
from fractions import Fraction

import ml_dtypes
import mpmath as mp
import numpy as np

BF16 = ml_dtypes.bfloat16
# In the order of topos::dtype.
TYPES = {
    "bool": np.bool_,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "float16": np.float16,
    "bfloat16": BF16,
    "float32": np.float32,
    "float64": np.float64,
    "complex64": np.complex64,
    "complex128": np.complex128,
}
SIGNED = ["int8", "int16", "int32", "int64"]
INTEGERS = SIGNED + ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]

each = np.vectorize


def wrapped_power(a, b, kind):
    """Integers to powers modulo the type; negative powers are cut off towards 0."""
    bits = 8 * np.dtype(kind).itemsize
    a, b = int(a), int(b)
    if b < 0:
        result = {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    else:
        result = pow(a, b, 1 << bits)
    result %= 1 << bits
    if np.issubdtype(kind, np.signedinteger) and result >= 1 << (bits - 1):
        result -= 1 << bits
    return result


def shifted(shift, a, b):
    """Python's shift of one number by another, with a count out of range as one that is large."""
    bits = 8 * a.dtype.itemsize
    count = int(b) if 0 <= int(b) < bits else bits
    value = int(a) << count if shift == "left" else int(a) >> count
    value %= 1 << bits
    if np.issubdtype(a.dtype, np.signedinteger) and value >= 1 << (bits - 1):
        value -= 1 << bits
    return value


def one_by_one(function, a, b):
    return np.array([function(x, y) for x, y in zip(a, b)], dtype=a.dtype)


INTEGER_BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "left_shift": lambda a, b: one_by_one(lambda x, y: shifted("left", x, y), a, b),
    "right_shift": lambda a, b: one_by_one(lambda x, y: shifted("right", x, y), a, b),
    "power": lambda a, b: one_by_one(lambda x, y: wrapped_power(x, y, a.dtype.type), a, b),
    "negative": lambda a, b: np.negative(a),
    "abs": lambda a, b: np.abs(a),
    "square": lambda a, b: np.square(a),
    "sign": lambda a, b: np.sign(a),
    "invert": lambda a, b: np.invert(a),
}
FLOAT_BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "negative": lambda a, b: np.negative(a),
    "abs": lambda a, b: np.abs(a),
    "square": lambda a, b: np.square(a),
    "sign": lambda a, b: np.sign(a),
    "reciprocal": lambda a, b: np.asarray(1, a.dtype) / a,
    "floor": lambda a, b: np.floor(a),
    "ceil": lambda a, b: np.ceil(a),
    "trunc": lambda a, b: np.trunc(a),
    "rint": lambda a, b: np.rint(a),
}
BOOL_BINARY = {
    "add": np.add,
    "multiply": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "invert": lambda a, b: np.invert(a),
}
COMPLEX_BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": lambda a, b: np.logical_not(a),
}
KINDS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit}


def or_nan(function):
    """The function of one float, with NaN where Python's math refuses it, and infinity at poles."""

    def guarded(x):
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return each(guarded, otypes=[np.float64])


def gamma(x):
    if x == 0:
        return math.copysign(math.inf, x)
    return math.gamma(x)


def lgamma(x):
    if math.isfinite(x) and x <= 0 and x == math.floor(x):
        return math.inf
    return math.lgamma(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x)) if x >= 0 else np.exp(x) / (1 + np.exp(x))


FUNCTIONS = {
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": or_nan(math.erf),
    "erfc": or_nan(math.erfc),
    "tgamma": or_nan(gamma),
    "lgamma": or_nan(lgamma),
    "sigmoid": each(sigmoid, otypes=[np.float64]),
    "gelu": lambda x: x / 2 * or_nan(math.erfc)(-x / math.sqrt(2)),
    "radians": np.radians,
    "degrees": np.degrees,
}
BINARY_FUNCTIONS = {
    "fmin": np.fmin,
    "fmax": np.fmax,
    "fmod": np.fmod,
    "fdim": lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a > b, a - b, 0)),
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "logaddexp": np.logaddexp,
    "pow": np.power,
}
POWERS = [0, 1, 2, 3, 0.5, -1, -2, 5, 10, -0.5, 1.5, -3.25, 64, 65]
COMPLEX_FUNCTIONS = {
    "negative": np.negative,
    "square": np.square,
    "reciprocal": np.reciprocal,
    "conj": np.conj,
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "pow": lambda z: z**2.5,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
}


def numbers(random, name, count):
    """Values of a type: its edges, its neighbours of 0, and others over its range."""
    kind = TYPES[name]
    if name == "bool":
        return random.integers(0, 2, count).astype(bool)
    if name in INTEGERS:
        info = np.iinfo(kind)
        edges = [info.min, info.max, info.max - 1, info.min + 1, 0, 1, 2, 3, 7, 100]
        edges += [-1, -2, -3, -7, -100] if name in SIGNED else [128, 200, 255]
        rest = count - len(edges)
        small = random.integers(max(info.min, -20), 20, rest // 2)
        wide = [int(random.integers(0, 1 << 62)) * 5 + 3 for _ in range(rest - rest // 2)]
        wide = [info.min + v % (int(info.max) - int(info.min)) for v in wide]
        return np.array(edges + [int(v) for v in small] + wide, dtype=kind)
    if name in COMPLEX:
        parts = random.normal(0, 2, (2, count))
        return (parts[0] + 1j * parts[1]).astype(kind)
    info = ml_dtypes.finfo(kind)
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -7.0, np.inf, -np.inf, np.nan]
    edges += [float(info.max), float(info.smallest_normal), float(info.smallest_subnormal), -float(info.max)]
    rest = count - len(edges)
    ordinary = random.normal(0, 3, rest - rest // 4)
    powers = random.choice([-1, 1], rest // 4) * 2.0 ** random.uniform(-13, 13, rest // 4)
    return np.concatenate([edges, ordinary, powers]).astype(kind)


def stored(x):
    return x.view(np.uint16) if x.dtype in (np.dtype(BF16), np.dtype(np.float16)) else x


def save(folder, name, rows):
    np.save(folder / f"{name}.npy", np.stack([stored(np.asarray(row)) for row in rows]))


def write_arithmetic(folder, random):
    for name in TYPES:
        count = 96
        # Each of the edges meets each other one sooner or later.
        a = np.concatenate([np.repeat(numbers(random, name, 20), 20), numbers(random, name, count)])
        b = np.concatenate([np.tile(numbers(random, name, 20), 20), numbers(random, name, count)[::-1]])
        if name in COMPLEX:
            a, b = numbers(random, name, count), numbers(random, name, count)
        table = (
            BOOL_BINARY
            if name == "bool"
            else INTEGER_BINARY
            if name in INTEGERS
            else COMPLEX_BINARY
            if name in COMPLEX
            else FLOAT_BINARY
        )
        exact = name == "complex64"
        rows = []
        for function in table.values():
            result = function(a.astype(np.complex128), b.astype(np.complex128)) if exact else function(a, b)
            rows.append(np.asarray(result).astype(a.dtype))
        save(folder, f"{name}_binary", [a, b, *rows])
        comparisons = {k: COMPARISONS[k] for k in ("equal", "not_equal")} if name in COMPLEX else COMPARISONS
        rows = [function(a, b) for function in comparisons.values()]
        if name in FLOATS:
            rows += [function(a) for function in KINDS.values()]
        save(folder, f"{name}_comparison", rows)
        if name in INTEGERS:
            save(folder, f"{name}_quotient", [a.astype(np.float32) / b.astype(np.float32)])


def write_functions(folder, random):
    for name in FLOATS:
        kind = TYPES[name]
        largest = {"float16": 11.0, "bfloat16": 88.5, "float32": 88.7, "float64": 709.7}[name]
        edges = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, np.inf, -np.inf, np.nan, largest, 0.99 * largest, -0.98 * largest]
        powers = 10.0 ** np.arange(-30, 31, 4)
        x = np.concatenate([edges, powers, -powers, random.normal(0, 3, 90), random.uniform(-1, 1, 45)]).astype(kind)
        wide = x.astype(np.float64)
        save(folder, f"{name}_unary", [x] + [f(wide).astype(kind) for f in FUNCTIONS.values()])
        a, b = numbers(random, name, 100), numbers(random, name, 100)[::-1].copy()
        a[-60:], b[-60:] = random.normal(0, 3, (2, 60)).astype(kind)
        a[-30:] = np.abs(a[-30:])
        u, v = a.astype(np.float64), b.astype(np.float64)
        save(folder, f"{name}_binary_functions", [a, b] + [f(u, v).astype(kind) for f in BINARY_FUNCTIONS.values()])
        save(folder, f"{name}_nextafter", [np.nextafter(a, b)])
        if name in ("float32", "float64"):
            c = numbers(random, name, 100)
            save(folder, f"{name}_fma", [c, np.array([exact_fma(*abc) for abc in zip(a, b, c)])])
        x = np.concatenate([[0.0, 1.0, 2.0, np.inf, np.nan], random.uniform(0.05, 4, 60)]).astype(kind)
        signed = np.concatenate([[-1.0, -2.0, -0.5], x]).astype(kind)
        save(folder, f"{name}_powers", [signed] + [np.power(signed.astype(np.float64), p).astype(kind) for p in POWERS])


def exact_fma(a, b, c):
    kind = type(a)
    if not all(np.isfinite([a, b, c])):
        return kind(float(a) * float(b) + float(c))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return kind(np.float64(a) * np.float64(b) + np.float64(c))
    if kind is np.float64:
        try:
            return kind(exact.numerator / exact.denominator)  # Python rounds the quotient of integers once
        except OverflowError:
            return kind(math.copysign(math.inf, 1 if exact > 0 else -1))
    return rounded_to_float32(exact)


def rounded_to_float32(exact):
    near = np.float32(np.clip(exact.numerator / exact.denominator, -1e39, 1e39))
    if not np.isfinite(near):
        return near
    # The double may lie on a tie that the exact number does not.
    candidates = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    finite = [f for f in candidates if np.isfinite(f)]
    return min(finite, key=lambda f: (abs(Fraction(float(f)) - exact), int(f.view(np.uint32)) & 1))


def write_complex(folder, random):
    for name in COMPLEX:
        kind = TYPES[name]
        z = np.concatenate([[0.5 + 0.25j, -0.5 + 0.25j, 0.5 - 0.25j, -0.5 - 0.25j, 2j, 1 - 1j], numbers(random, name, 90)])
        z = z.astype(kind)
        wide = z.astype(np.complex128)
        with_cmath = {
            f: each(lambda w, f=f: getattr(cmath, f)(complex(w)), otypes=[np.complex128])
            for f in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "tan", "tanh")
        }
        rows = [with_cmath.get(f, function)(wide).astype(kind) for f, function in COMPLEX_FUNCTIONS.items()]
        save(folder, f"{name}_unary", [z, *rows])
        real = np.stack([np.abs(wide), wide.real, wide.imag])
        save(folder, f"{name}_real", real.astype(z.real.dtype))


def write_complex_plane(folder):
    """Functions of numbers from all over the plane, beside their cuts and beyond every overflow: NumPy's own."""
    others = ("negative", "square", "reciprocal", "conj", "pow", "sigmoid")
    functions = {f: g for f, g in COMPLEX_FUNCTIONS.items() if f not in others}
    for name in COMPLEX:
        far = 1e200 if name == "complex128" else 1e30
        parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-10, 100.0, -800.0, -1e5, far, 1 / far, np.inf, -np.inf, np.nan]
        z = np.array([complex(x, y) for x in parts for y in parts]).astype(TYPES[name])
        rows = [f(z) for f in functions.values()]
        rows += [1 / z, z / z[::-1]]
        rows += [z**p for p in (0, 3, -1, 0.5, 1.5 - 0.5j)]
        save(folder, f"{name}_plane", [z, *rows])


def write_complex_exponentials(folder):
    """exp2, expm1, log2 and log1p near the points where their formulas cancel, and far from them."""
    parts = [0.0, 1e-20, -1e-10, 3e-5, 0.01, -0.3, 0.49, 0.6, -0.5, -0.9, -1.5, 2.0, 6.2831854, -20.0, 60.0]
    functions = [lambda z: mp.mpf(2) ** z, mp.expm1, lambda z: mp.log(z, 2), mp.log1p]
    for name in COMPLEX:
        z = np.array([complex(x, y) for x in parts for y in parts if x or y]).astype(TYPES[name])
        with mp.workdps(60):
            rows = [[complex(f(mp.mpc(complex(w)))) for w in z] for f in functions]
        save(folder, f"{name}_exponentials", [z, *(np.array(row).astype(TYPES[name]) for row in rows)])


def cast_sources(random, name):
    kind = TYPES[name]
    if name == "bool":
        return np.arange(48) % 3 == 0
    if name in INTEGERS:
        info = np.iinfo(kind)
        wanted = [0, 1, 2, 5, 100, 127, 128, 129, 255, 256, 257, 32767, 32768, 65504, 65519, 65520, 65535, 65536]
        wanted += [(1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 53) + 1, (1 << 63) - 1]
        wanted += [0x01018001, 0x8080001, 0x0180_8000_0000_0001, 0x1010000000000001, 0x4040_0000_0000_0001]
        wanted += [-v for v in wanted[1:]] + [info.min, info.max]
        wanted = [v for v in wanted if info.min <= v <= info.max]
        return np.array([wanted[i % len(wanted)] for i in range(48)], dtype=kind)
    if name in COMPLEX:
        return numbers(random, name, 48)
    wanted = [0.0, -0.0, 0.5, 1.5, 2.5, 127.4, 127.6, 128, 200, 255.9, 256, 32767.5, 32768, 40000, 65504, 65519.9]
    wanted += [65535.9, 65536, 16777217, 2147483520, 2147483647, 2147483648, 3e9, 4294967295, 4294967296, 9.2e18]
    wanted += [9223372036854775807, 1.5e19, 18446744073709551615, 1e30]
    # Just over halfway between two neighbours in each of the sixteen-bit types: a second rounding goes astray.
    wanted += [1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40, 3 + 2.0**-10 + 2.0**-41, 2.0**-24 * (1.5 + 2.0**-30)]
    wanted += [np.inf, np.nan, 1e-30, 5e-324, 1e-6, 6.0e-8]
    wanted = [v for v in wanted] + [-1.0, -0.9, -1.5, -128.9, -129, -40000, -1e10, -1e30, -np.inf]
    with np.errstate(all="ignore"):
        return np.array([wanted[i % len(wanted)] for i in range(48)]).astype(kind)


def write_casts(folder, random):
    """By JAX; what it rounds twice on the way to a sixteen-bit type, by rounding the exact value once."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    sources = {name: cast_sources(random, name) for name in TYPES}
    for name, source in sources.items():
        save(folder, f"{name}_cast_source", [source])
    for to, kind in TYPES.items():
        rows = []
        for name, source in sources.items():
            if name in COMPLEX and to not in COMPLEX:
                continue
            if to == "bool":  # JAX takes denormal numbers for 0
                rows.append(source != 0)
            elif to in ("float16", "bfloat16") and name not in COMPLEX:
                rows.append(once_rounded(source, kind))
            else:
                rows.append(np.asarray(jnp.asarray(source).astype(kind)))
        save(folder, f"{to}_cast", rows)


def once_rounded(source, kind):
    """The nearest number of a sixteen-bit type: float values rounded to odd before the last step."""
    result = []
    for v in source:
        if source.dtype.kind == "f" or source.dtype == np.dtype(BF16):
            exact = float(v)
            if not math.isfinite(exact):
                result.append(np.float32(exact))
                continue
        else:
            exact = int(v)
        result.append(to_odd(exact))
    return np.array(result, dtype=np.float32).astype(kind)


def to_odd(exact):
    with np.errstate(over="ignore"):
        near = np.float32(exact)
    if not np.isfinite(near) or Fraction(float(near)) == Fraction(exact):
        return near
    if abs(Fraction(float(near))) > abs(Fraction(exact)):
        near = np.nextafter(near, np.float32(0))
    return np.uint32(int(near.view(np.uint32)) | 1).view(np.float32)


def write_promotion(folder):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    names = list(TYPES)

    def code(kind):
        return names.index(np.dtype(kind).name)

    table = [[code(jnp.promote_types(a, b)) for b in TYPES.values()] for a in TYPES.values()]
    save(folder, "promotion", np.array(table, dtype=np.uint8))
    scalars = [True, 1, 1.5, 1j]
    weak = [[code((jnp.zeros(1, kind) + s).dtype) for s in scalars] for kind in TYPES.values()]
    save(folder, "weak_promotion", np.array(weak, dtype=np.uint8))


def write_broadcast(folder, random):
    operators = [np.add, np.subtract, np.multiply, np.divide]
    for name in ("float32", "float64"):
        a = random.normal(0, 2, (3, 1, 17)).astype(TYPES[name])
        b = random.normal(0, 2, (5, 1)).astype(TYPES[name])
        save(folder, f"broadcast_{name}_a", a)
        save(folder, f"broadcast_{name}_b", b)
        save(folder, f"broadcast_{name}_result", [f(a, b) for f in operators])


LINSPACES = [(0, 100, 1), (0, 100, 2), (-1, 1, 7), (0, 100, 1001), (3.7, -12.1, 33), (1e-3, 1e6, 257), (5, 5, 16)]
ARANGES = [(0, 17, 1), (-3, 4, 0.25), (0, 1, 0.1), (10, -10, -0.7), (0.3, 33, 0.3)]


def write_parts(folder):
    """Fractions, whole parts, significands and powers of 2, with a random generator of its own."""
    random = np.random.default_rng(21)
    for name in ("float32", "float64"):
        x = numbers(random, name, 100)
        powers = random.integers(-160, 160, x.size).astype(np.int32)
        fraction, whole = np.modf(x)
        significand, exponent = np.frexp(x)
        exponent = np.where(np.isfinite(x), exponent, 0)
        save(folder, f"{name}_parts", [x, fraction, whole, significand, np.ldexp(x, powers)])
        save(folder, f"{name}_exponents", [exponent.astype(np.int32), powers])


def linspace(kind, start, stop, count):
    """NumPy's own steps, in the type itself."""
    start, stop = kind(start), kind(stop)
    if count == 1:
        return np.array([start])
    step = (stop - start) / kind(count - 1)
    result = np.arange(count).astype(kind) * step + start
    result[-1] = stop
    return result


def write_generators(folder):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    for name in ("float32", "float64"):
        kind = TYPES[name]
        save(folder, f"{name}_linspace", [np.concatenate([linspace(kind, *of) for of in LINSPACES])])
        # The numbers that a type makes of the bounds decide how many there are.
        rows = [np.asarray(jnp.arange(*[float(kind(v)) for v in of], dtype=name)) for of in ARANGES]
        save(folder, f"{name}_arange", [np.concatenate(rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output / "expr"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(20)
    with np.errstate(all="ignore"):
        write_arithmetic(folder, random)
        write_functions(folder, random)
        write_complex(folder, random)
        write_complex_plane(folder)
        write_complex_exponentials(folder)
        write_casts(folder, random)
        write_promotion(folder)
        write_broadcast(folder, random)
        write_generators(folder)
        write_parts(folder)


if __name__ == "__main__":
    main()
