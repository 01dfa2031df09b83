# SPDX-License-Identifier: Apache-2.0
"""What `benchmarks/compare array` measures: the rows, what each side calls them, and the targets.

A C++ program of a side has for a row the Google Benchmark `<name>/<side>/<device>/<dtype>/<size>`; a Python peer has the
workload `<name>/<size>`, or `<name>/<size>/<dtype>` where that is not float32.
"""
import dataclasses

TOPOS = "topos"
JIT, EAGER, TORCH = "JAX jit", "JAX eager", "PyTorch"
LOOP, XTENSOR = "bare loop", "xtensor"
# topos' own other way of doing a row, where there is one to be compared with.
TWICE = "topos, two passes"
# What the device can do at all: a copy that moves as many bytes.
COPY = "copy"
PEERS = (JIT, EAGER, TORCH)
# What the C++ programs call the sides.
BENCHMARK_SIDES = {TOPOS: "topos", LOOP: "loop", XTENSOR: "xtensor", TWICE: "two_passes", COPY: "copy"}


@dataclasses.dataclass(frozen=True)
class row:
    name: str
    size: str
    text: str
    # [(sides, factor)]: topos is to be that many times as fast as the fastest of these sides on the CPU.
    ratios: tuple = ()
    # The same on a GPU.
    ratios_on_gpu: tuple = ((PEERS, 1.0),)
    # Seconds that topos may take on the CPU.
    at_most: float | None = None
    # (counter of topos' benchmark, the largest value, what it is)
    counter: tuple | None = None
    dtype: str = "f32"

    @property
    def key(self):
        return f"{self.name}/{self.size}" + ("" if self.dtype == "f32" else f"/{self.dtype}")

    def benchmark(self, side, device):
        return f"{self.name}/{BENCHMARK_SIDES[side]}/{device}/{self.dtype}/{self.size}"


def as_good_as_peers(name, size, text, factor=1.0, also=(), dtype="f32", **others):
    return row(name, size, text, ((PEERS, factor), *also), dtype=dtype, **others)


# Of work whose limit is the memory of a GPU.
AS_A_COPY = ((PEERS, 1.0), ((COPY,), 0.9))
MILLION = 1_000_000
ROWS = (
    row("map/linspace_sqrt_log", "10000000", "x = linspace(0, 100, 10 M); x**0.5 - log(abs(x)); new memory each time",
        (((JIT,), 5), ((EAGER,), 25), ((TORCH,), 20))),
    row("map/sqrt_log", "10000000", "x**0.5 - log(abs(x)) of a given x, a new result each time",
        (((JIT,), 6), ((LOOP,), 0.85), ((XTENSOR,), 5)),
        # x and the result; memory is handed out in pages of 2 MiB.
        counter=("peak_bytes", 2 * 40 * MILLION * 1.06, "peak memory: x and the result, and nothing between")),
    row("map/sqrt_log_into", "10000000", "the same into memory already there",
        (((LOOP,), 0.85), ((XTENSOR,), 1.0))),
    row("random/uniform_powers", "100000000", "x = uniform(100 M); y = x**2 - 0.5; y**3 - 0.2",
        (((JIT,), 30), ((EAGER,), 40), ((TORCH,), 25))),
    row("map/powers", "100000000", "(x**2 - 0.5)**3 - 0.2 of a given x", ratios_on_gpu=AS_A_COPY),
    as_good_as_peers("reduce/sum", "100000000", "sum of 100 M", also=(((LOOP,), 0.9),), ratios_on_gpu=AS_A_COPY),
    as_good_as_peers("reduce/max", "100000000", "max of 100 M"),
    as_good_as_peers("reduce/argmax", "100000000", "argmax of 100 M"),
    as_good_as_peers("reduce/argmax_rows", "500000x16", "argmax over axis 1 of 500000 x 16"),
    as_good_as_peers("reduce/distances", "2000x500x64", "squares of the distances of 2000 and 500 points in 64 dimensions"),
    as_good_as_peers("reduce/mean_rows", "10000x10000", "mean over axis 1 of 10000 x 10000"),
    as_good_as_peers("reduce/mean_columns", "10000x10000", "mean over axis 0 of 10000 x 10000"),
    as_good_as_peers("reduce/mean_channels", "100x1000x100", "mean over axes 0 and 2 of 100 x 1000 x 100"),
    as_good_as_peers("reduce/softmax", "10000x10000", "softmax over the last axis of 10000 x 10000"),
    as_good_as_peers("reduce/layer_norm", "10000x10000", "layer norm over the last axis of 10000 x 10000"),
    row("reduce/min_max", "100000000", "min and max of 100 M, asked for together", (((TWICE,), 1 / 0.6),)),
    as_good_as_peers("view/transpose", "2500x4000", "transpose of 2500 x 4000"),
    as_good_as_peers("view/strided", "5000x8000", "x[::2, 1::2] of 5000 x 8000"),
    as_good_as_peers("view/broadcast_add", "2500x4000", "a row and a column, added to a matrix of 2500 x 4000"),
    as_good_as_peers("view/heat_step", "1000x1000", "a step of the heat equation, four rolls, of 1000 x 1000"),
    as_good_as_peers("view/sobel", "1000x1000", "the Sobel gradient's magnitude, of slices of 1000 x 1000"),
    as_good_as_peers("view/plus_transposed", "1000x1000", "x + x.T of 1000 x 1000"),
    as_good_as_peers("view/less_column", "1000x1000", "bytes of 1000 x 1000 less a column", dtype="u8"),
    as_good_as_peers("map/where", "10000000", "where(x > 0, x, y) of 10 M"),
    as_good_as_peers("map/products", "10000000", "x * y + x * 0.5 - y of 10 M bf16", dtype="bf16"),
    as_good_as_peers("map/products", "10000000", "x * y + x * 0.5 - y of 10 M f16", dtype="f16"),
    as_good_as_peers("reduce/sum", "100000000", "sum of 100 M bf16", dtype="bf16"),
    as_good_as_peers("reduce/sum", "100000000", "sum of 100 M f16", dtype="f16"),
    as_good_as_peers("map/power", "10000000", "x**2.2 of 10 M"),
    as_good_as_peers("map/remainder", "10000000", "x % y of 10 M"),
    as_good_as_peers("map/maximum", "10000000", "maximum(x, y) of 10 M bytes", dtype="u8"),
    as_good_as_peers("map/maximum", "65536", "maximum(x, y) of 65,536 floats"),
    as_good_as_peers("map/maximum", "262144", "maximum(x, y) of 262,144 floats"),
    as_good_as_peers("map/sqrt_log", "131072", "x**0.5 - log(abs(x)) of 131,072 floats"),
    as_good_as_peers("reduce/sum", "131072", "sum of 131,072 floats"),
    as_good_as_peers("map/scaled", "10000000", "x.astype(f32) * (2 / 255) - 1 of 10 M bytes", dtype="u8"),
    as_good_as_peers("reduce/mean", "10000000", "mean of 10 M bytes, as float", dtype="u8"),
    as_good_as_peers("scan/cumsum", "10000000", "cumsum of 10 M"),
    as_good_as_peers("scan/cumsum_rows", "30000x128", "cumsum over axis 1 of 30000 x 128"),
    as_good_as_peers("scan/cumsum_columns", "1000000x8", "cumsum over axis 0 of 1 M x 8"),
    row("sort/sort", "10000000", "sort of 10 M"),
    as_good_as_peers("sort/searchsorted", "1000000", "searchsorted of 1 M in 2,000"),
    as_good_as_peers("matmul", "256", "matrix product, 256", 0.97),
    as_good_as_peers("matmul", "1024", "matrix product, 1024", 0.97),
    as_good_as_peers("matmul", "2048", "matrix product, 2048", 0.97),
    as_good_as_peers("matmul", "64x128", "64 matrix products, 128", 0.97),
    as_good_as_peers("matmul", "1024", "matrix product of 32-bit integers, 1024", dtype="i32"),
    as_good_as_peers("matmul_vector", "10000x1000", "product of a matrix of 10000 x 1000 and a vector"),
    row("dispatch/add", "16", "x + 1 of 16 floats, until control is back"),
    row("dispatch/add_wait", "16", "x + 1 of 16 floats, until the result is there", at_most=0.5e-6),
    row("dispatch/sqrt_log", "10000000", "x**0.5 - log(abs(x)) of 10 M, until control is back", at_most=2e-6),
)
