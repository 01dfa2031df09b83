# SPDX-License-Identifier: Apache-2.0
"""PyTorch, operation by operation."""
import array_peer
from array_peer import workload


class torch_peer:
    def __init__(self, threads, device):
        import torch

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        torch.manual_seed(1)
        torch.set_default_device(device)
        if device == "cpu":
            self.wait = lambda result: result  # every call has its result when it returns
        else:
            self.wait = lambda result: torch.cuda.synchronize(device)
        self.variants = {"PyTorch": lambda compute: compute}
        self.versions = {"torch": torch.__version__}

        def normal(*shape):
            return lambda: (torch.randn(shape),)

        def products(*shape):
            return lambda: (torch.randn(shape), torch.randn(shape))

        def chain(x):
            return x**0.5 - torch.log(torch.abs(x))

        def uniform_powers():
            x = torch.rand(100_000_000)
            y = x**2 - 0.5
            return y**3 - 0.2

        def heat_step(u):
            return u + 0.2 * (torch.roll(u, 1, 0) + torch.roll(u, -1, 0) + torch.roll(u, 1, 1) + torch.roll(u, -1, 1) - 4 * u)

        def sobel(u):
            x = (u[:-2, 2:] + 2 * u[1:-1, 2:] + u[2:, 2:]) - (u[:-2, :-2] + 2 * u[1:-1, :-2] + u[2:, :-2])
            y = (u[2:, :-2] + 2 * u[2:, 1:-1] + u[2:, 2:]) - (u[:-2, :-2] + 2 * u[:-2, 1:-1] + u[:-2, 2:])
            return torch.sqrt(x * x + y * y)

        def halves(count, dtype, operands):
            return lambda: tuple(x.to(dtype) for x in products(count)()[:operands])

        def octets(count):
            return lambda: tuple((torch.abs(x) * 50).to(torch.uint8) for x in products(count)())

        def octet(count):
            return lambda: octets(count)()[:1]

        def integers(*shape):
            return lambda: tuple((x * 50).to(torch.int32) for x in products(*shape)())

        million, whole = 1_000_000, (10_000, 10_000)
        sixteen_bits = {"bf16": torch.bfloat16, "f16": torch.float16}
        self.workloads = {
            **{f"map/products/10000000/{name}": workload(halves(10 * million, dtype, 2), lambda x, y: x * y + x * 0.5 - y)
               for name, dtype in sixteen_bits.items()},
            **{f"reduce/sum/100000000/{name}": workload(halves(100 * million, dtype, 1), torch.sum)
               for name, dtype in sixteen_bits.items()},
            "map/linspace_sqrt_log/10000000": workload(tuple, lambda: chain(torch.linspace(0, 100, 10 * million))),
            "map/sqrt_log/10000000": workload(lambda: (torch.rand(10 * million) * 100,), chain),
            "random/uniform_powers/100000000": workload(tuple, uniform_powers),
            "map/powers/100000000": workload(normal(100 * million), lambda x: (x**2 - 0.5) ** 3 - 0.2),
            "reduce/sum/100000000": workload(normal(100 * million), torch.sum),
            "reduce/max/100000000": workload(normal(100 * million), torch.max),
            "reduce/argmax/100000000": workload(normal(100 * million), torch.argmax),
            "reduce/argmax_rows/500000x16": workload(normal(500_000, 16), lambda x: torch.argmax(x, 1)),
            "reduce/distances/2000x500x64": workload(
                lambda: (normal(2000, 64)()[0], normal(500, 64)()[0]),
                lambda x, y: torch.sum(torch.square(x[:, None] - y), 2),
            ),
            "reduce/mean_rows/10000x10000": workload(normal(*whole), lambda x: torch.mean(x, 1)),
            "reduce/mean_columns/10000x10000": workload(normal(*whole), lambda x: torch.mean(x, 0)),
            "reduce/mean_channels/100x1000x100": workload(normal(100, 1000, 100), lambda x: torch.mean(x, (0, 2))),
            "reduce/softmax/10000x10000": workload(normal(*whole), lambda x: torch.softmax(x, -1)),
            "reduce/layer_norm/10000x10000": workload(
                lambda: (*normal(*whole)(), torch.ones(10_000), torch.zeros(10_000)),
                lambda x, weight, bias: torch.nn.functional.layer_norm(x, (10_000,), weight, bias, 1e-5),
            ),
            "reduce/min_max/100000000": workload(normal(100 * million), torch.aminmax),
            "view/transpose/2500x4000": workload(normal(2500, 4000), lambda x: x.T.contiguous()),
            "view/strided/5000x8000": workload(normal(5000, 8000), lambda x: x[::2, 1::2].contiguous()),
            "view/broadcast_add/2500x4000": workload(
                lambda: (*normal(2500, 4000)(), *normal(4000)(), *normal(2500, 1)()), lambda x, row, column: x + row + column
            ),
            "view/heat_step/1000x1000": workload(normal(1000, 1000), heat_step),
            "view/sobel/1000x1000": workload(normal(1000, 1000), sobel),
            "view/plus_transposed/1000x1000": workload(normal(1000, 1000), lambda x: x + x.T),
            "view/less_column/1000x1000/u8": workload(
                lambda: (octet(million)()[0].reshape(1000, 1000), octet(1000)()[0].reshape(1000, 1)), torch.sub
            ),
            "map/where/10000000": workload(products(10 * million), lambda x, y: torch.where(x > 0, x, y)),
            "map/power/10000000": workload(lambda: (torch.rand(10 * million) * 100,), lambda x: x**2.2),
            "map/remainder/10000000": workload(products(10 * million), torch.remainder),
            "map/maximum/10000000/u8": workload(octets(10 * million), torch.maximum),
            **{f"map/maximum/{n}": workload(products(n), torch.maximum) for n in (65_536, 262_144)},
            "map/sqrt_log/131072": workload(lambda: (torch.rand(131_072) * 100,), chain),
            "reduce/sum/131072": workload(normal(131_072), torch.sum),
            "map/scaled/10000000/u8": workload(octet(10 * million), lambda x: x.to(torch.float32) * (2 / 255) - 1),
            "reduce/mean/10000000/u8": workload(octet(10 * million), lambda x: torch.mean(x, dtype=torch.float32)),
            "scan/cumsum/10000000": workload(normal(10 * million), lambda x: torch.cumsum(x, 0)),
            "scan/cumsum_rows/30000x128": workload(normal(30_000, 128), lambda x: torch.cumsum(x, 1)),
            "scan/cumsum_columns/1000000x8": workload(normal(million, 8), lambda x: torch.cumsum(x, 0)),
            "sort/sort/10000000": workload(normal(10 * million), lambda x: torch.sort(x).values),
            "sort/searchsorted/1000000": workload(
                lambda: (torch.sort(normal(2000)()[0]).values, *normal(million)()), torch.searchsorted
            ),
            **{f"matmul/{n}": workload(products(n, n), torch.matmul) for n in (256, 1024, 2048)},
            "matmul/64x128": workload(products(64, 128, 128), torch.matmul),
            "matmul/1024/i32": workload(integers(1024, 1024), torch.matmul),
            "matmul_vector/10000x1000": workload(lambda: (*normal(10_000, 1000)(), *normal(1000)()), torch.matmul),
            "dispatch/add/16": workload(normal(16), lambda x: x + 1.0, waits=False),
            "dispatch/add_wait/16": workload(normal(16), lambda x: x + 1.0),
            "dispatch/sqrt_log/10000000": workload(lambda: (torch.rand(10 * million) * 100,), chain, waits=False),
        }
        if device != "cpu":
            # It multiplies no matrices of integers there.
            del self.workloads["matmul/1024/i32"]


if __name__ == "__main__":
    array_peer.serve(torch_peer)
