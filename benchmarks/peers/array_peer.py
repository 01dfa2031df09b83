# SPDX-License-Identifier: Apache-2.0
"""A library of arrays among the peers, for its worker.

Requests: workloads, the keys of what it can do, and measure (workload, variant, seconds), which gives the seconds of
one call.
"""
import dataclasses
import gc
import time
from typing import Callable

import worker

# So long is one timing; calls that take less are timed together.
SLICE_SECONDS = 0.05
LEAST_SLICES = 3


@dataclasses.dataclass
class workload:
    make: Callable  # () -> the arguments of compute
    compute: Callable
    # Whether a call is over when its result is there; otherwise when control is back.
    waits: bool = True


def timed(call, settle, count):
    """Seconds of one of `count` calls; settle() comes after each, outside of the time, unless it is None."""
    clock = time.perf_counter
    if settle is None:
        start = clock()
        for _ in range(count):
            call()
        return (clock() - start) / count
    total = 0.0
    for _ in range(count):
        start = clock()
        result = call()
        total += clock() - start
        settle(result)
    return total / count


def fastest(call, settle, seconds):
    """Seconds of one call: the least of several means, after two calls that are not timed."""
    for _ in range(2):
        result = call()
        if settle is not None:
            settle(result)
    del result
    begin = time.perf_counter()
    timed(call, settle, 1)
    # With what lies between the calls.
    count = max(1, int(SLICE_SECONDS / (time.perf_counter() - begin)))
    slices = []
    while len(slices) < LEAST_SLICES or time.perf_counter() - begin < seconds:
        slices.append(timed(call, settle, count))
    return min(slices)


class array_peer:
    """Answers requests for one library: an object with workloads, {key: workload}, variants, {name: function that
    readies compute for that variant}, wait(result), and versions, a dict."""

    requests = ["measure"]

    def __init__(self, library):
        self.library = library

    def greeting(self):
        return {
            "versions": self.library.versions,
            "variants": list(self.library.variants),
            "workloads": list(self.library.workloads),
        }

    def measure(self, workload, variant, seconds):
        library, work = self.library, self.library.workloads[workload]
        arguments = work.make()
        library.wait(arguments)
        compute = library.variants[variant](work.compute)
        if work.waits:
            found = fastest(lambda: library.wait(compute(*arguments)), None, seconds)
        else:
            found = fastest(lambda: compute(*arguments), library.wait, seconds)
        # The next side needs the memory.
        del arguments
        gc.collect()
        return {"seconds": found}


def serve(make_library):
    """Runs the worker of a library; make_library(threads, device) loads it."""
    worker.serve(lambda threads, device: array_peer(make_library(int(threads), device)))
