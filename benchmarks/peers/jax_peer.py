# SPDX-License-Identifier: Apache-2.0
"""JAX, whole workloads compiled by jax.jit and operation by operation."""
import os

import array_peer
from array_peer import workload


def chain(x):
    import jax.numpy as jnp

    return x**0.5 - jnp.log(jnp.abs(x))


class jax_peer:
    def __init__(self, threads, device):
        del threads  # as many as the process has CPUs
        platform, _, index = device.partition(":")
        os.environ["JAX_PLATFORMS"] = platform
        # A GPU's memory is for the other sides, too.
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax
        import jax.numpy as jnp
        import jaxlib

        jax.config.update("jax_default_device", jax.devices()[int(index or 0)])
        # Products of floats, not of their first ten bits.
        jax.config.update("jax_default_matmul_precision", "highest")
        # The numbers of topos' default key layout.
        jax.config.update("jax_threefry_partitionable", False)
        self.wait = jax.block_until_ready
        self.variants = {"JAX jit": jax.jit, "JAX eager": lambda compute: compute}
        self.versions = {"jax": jax.__version__, "jaxlib": jaxlib.__version__}

        def normal(*shape):
            return lambda: (jax.random.normal(jax.random.key(1), shape, jnp.float32),)

        def positive(*shape):
            return lambda: (jax.random.uniform(jax.random.key(1), shape, jnp.float32, 0.0, 100.0),)

        def products(*shape):
            return lambda: (normal(*shape)()[0], normal(*shape)()[0])

        def uniform_powers():
            x = jax.random.uniform(jax.random.key(0), (100_000_000,), jnp.float32)
            y = x**2 - 0.5
            return y**3 - 0.2

        def layer_norm(x, weight, bias):
            mean = jnp.mean(x, axis=-1, keepdims=True)
            variance = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * weight + bias

        def heat_step(u):
            return u + 0.2 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)

        def sobel(u):
            x = (u[:-2, 2:] + 2 * u[1:-1, 2:] + u[2:, 2:]) - (u[:-2, :-2] + 2 * u[1:-1, :-2] + u[2:, :-2])
            y = (u[2:, :-2] + 2 * u[2:, 1:-1] + u[2:, 2:]) - (u[:-2, :-2] + 2 * u[:-2, 1:-1] + u[:-2, 2:])
            return jnp.sqrt(x * x + y * y)

        def halves(count, dtype, operands):
            return lambda: tuple(x.astype(dtype) for x in products(count)()[:operands])

        def octets(count):
            return lambda: tuple((jnp.abs(x) * 50).astype(jnp.uint8) for x in products(count)())

        def octet(count):
            return lambda: octets(count)()[:1]

        def integers(*shape):
            return lambda: tuple((x * 50).astype(jnp.int32) for x in products(*shape)())

        million, whole = 1_000_000, (10_000, 10_000)
        sixteen_bits = {"bf16": jnp.bfloat16, "f16": jnp.float16}
        self.workloads = {
            **{f"map/products/10000000/{name}": workload(halves(10 * million, dtype, 2), lambda x, y: x * y + x * 0.5 - y)
               for name, dtype in sixteen_bits.items()},
            **{f"reduce/sum/100000000/{name}": workload(halves(100 * million, dtype, 1), jnp.sum)
               for name, dtype in sixteen_bits.items()},
            "map/linspace_sqrt_log/10000000": workload(tuple, lambda: chain(jnp.linspace(0.0, 100.0, 10 * million))),
            "map/sqrt_log/10000000": workload(positive(10 * million), chain),
            "random/uniform_powers/100000000": workload(tuple, uniform_powers),
            "map/powers/100000000": workload(normal(100 * million), lambda x: (x**2 - 0.5) ** 3 - 0.2),
            "reduce/sum/100000000": workload(normal(100 * million), jnp.sum),
            "reduce/max/100000000": workload(normal(100 * million), jnp.max),
            "reduce/argmax/100000000": workload(normal(100 * million), jnp.argmax),
            "reduce/argmax_rows/500000x16": workload(normal(500_000, 16), lambda x: jnp.argmax(x, axis=1)),
            "reduce/distances/2000x500x64": workload(
                lambda: (normal(2000, 64)()[0], normal(500, 64)()[0]),
                lambda x, y: jnp.sum(jnp.square(x[:, None] - y), axis=2),
            ),
            "reduce/mean_rows/10000x10000": workload(normal(*whole), lambda x: jnp.mean(x, axis=1)),
            "reduce/mean_columns/10000x10000": workload(normal(*whole), lambda x: jnp.mean(x, axis=0)),
            "reduce/mean_channels/100x1000x100": workload(normal(100, 1000, 100), lambda x: jnp.mean(x, axis=(0, 2))),
            "reduce/softmax/10000x10000": workload(normal(*whole), lambda x: jax.nn.softmax(x, axis=-1)),
            "reduce/layer_norm/10000x10000": workload(
                lambda: (*normal(*whole)(), jnp.ones(10_000), jnp.zeros(10_000)), layer_norm
            ),
            "reduce/min_max/100000000": workload(normal(100 * million), lambda x: (jnp.min(x), jnp.max(x))),
            "view/transpose/2500x4000": workload(normal(2500, 4000), jnp.transpose),
            "view/strided/5000x8000": workload(normal(5000, 8000), lambda x: x[::2, 1::2]),
            "view/broadcast_add/2500x4000": workload(
                lambda: (*normal(2500, 4000)(), *normal(4000)(), *normal(2500, 1)()), lambda x, row, column: x + row + column
            ),
            "view/heat_step/1000x1000": workload(normal(1000, 1000), heat_step),
            "view/sobel/1000x1000": workload(normal(1000, 1000), sobel),
            "view/plus_transposed/1000x1000": workload(normal(1000, 1000), lambda x: x + x.T),
            "view/less_column/1000x1000/u8": workload(
                lambda: (octet(million)()[0].reshape(1000, 1000), octet(1000)()[0].reshape(1000, 1)), jnp.subtract
            ),
            "map/where/10000000": workload(products(10 * million), lambda x, y: jnp.where(x > 0, x, y)),
            "map/power/10000000": workload(positive(10 * million), lambda x: x**2.2),
            "map/remainder/10000000": workload(products(10 * million), jnp.remainder),
            "map/maximum/10000000/u8": workload(octets(10 * million), jnp.maximum),
            **{f"map/maximum/{n}": workload(products(n), jnp.maximum) for n in (65_536, 262_144)},
            "map/sqrt_log/131072": workload(positive(131_072), chain),
            "reduce/sum/131072": workload(normal(131_072), jnp.sum),
            "map/scaled/10000000/u8": workload(octet(10 * million), lambda x: x.astype(jnp.float32) * (2 / 255) - 1),
            "reduce/mean/10000000/u8": workload(octet(10 * million), jnp.mean),
            "scan/cumsum/10000000": workload(normal(10 * million), jnp.cumsum),
            "scan/cumsum_rows/30000x128": workload(normal(30_000, 128), lambda x: jnp.cumsum(x, axis=1)),
            "scan/cumsum_columns/1000000x8": workload(normal(million, 8), lambda x: jnp.cumsum(x, axis=0)),
            "sort/sort/10000000": workload(normal(10 * million), jnp.sort),
            "sort/searchsorted/1000000": workload(
                lambda: (jnp.sort(normal(2000)()[0]), *normal(million)()), jnp.searchsorted
            ),
            **{f"matmul/{n}": workload(products(n, n), jnp.matmul) for n in (256, 1024, 2048)},
            "matmul/64x128": workload(products(64, 128, 128), jnp.matmul),
            "matmul/1024/i32": workload(integers(1024, 1024), jnp.matmul),
            "matmul_vector/10000x1000": workload(lambda: (*normal(10_000, 1000)(), *normal(1000)()), jnp.matmul),
            "dispatch/add/16": workload(normal(16), lambda x: x + 1.0, waits=False),
            "dispatch/add_wait/16": workload(normal(16), lambda x: x + 1.0),
            "dispatch/sqrt_log/10000000": workload(positive(10 * million), chain, waits=False),
        }


if __name__ == "__main__":
    array_peer.serve(jax_peer)
