# SPDX-License-Identifier: Apache-2.0
"""The C++ sides: Google Benchmark programs, run afresh for each figure."""
import json
import os
import pathlib
import re
import subprocess

# So long is one timing; a side's figure is the least of several.
SLICE_SECONDS = 0.05
LEAST_SLICES = 3


class benchmark_failed(Exception):
    """A program ended with an error, or did not measure what was asked."""


# What Google Benchmark adds to a name.
SUFFIX = re.compile(r"/(real_time|manual_time|iterations:\d+)")


class benchmark_programs:
    def __init__(self, folder, threads):
        count = str(threads)
        self.environment = dict(os.environ, OMP_NUM_THREADS=count, KOKKOS_NUM_THREADS=count)
        # TBB's threads follow the CPUs that the process may use.
        self.programs = {}  # {name of a benchmark: (program, its full name)}
        for program in sorted(pathlib.Path(folder).rglob("*_benchmark")):
            if program.is_file() and os.access(program, os.X_OK):
                for full in self.output(program, "--benchmark_list_tests").split():
                    self.programs[SUFFIX.sub("", full)] = (program, full)

    def output(self, program, *arguments):
        run = subprocess.run(
            [str(program), *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if run.returncode != 0:
            raise benchmark_failed(f"{program.name} ended with {run.returncode}:\n{run.stderr[-2000:]}")
        return run.stdout

    def __contains__(self, name):
        return name in self.programs

    def measure(self, name, seconds):
        """Seconds of one iteration, and the benchmark's counters."""
        program, full = self.programs[name]
        slices = max(LEAST_SLICES, round(seconds / SLICE_SECONDS))
        run = [program, f"--benchmark_filter=^{re.escape(full)}$", f"--benchmark_min_time={SLICE_SECONDS}"]
        # The peers' processes stay, and with them their memory. What a virtual machine has not used for some seconds
        # its host takes back, and gives again in small pages: who touches it first takes 100 ms longer, and then twice
        # as long for as long as it runs. The next program finds it as it was.
        self.output(*run, "--benchmark_repetitions=1")
        found = json.loads(self.output(*run, f"--benchmark_repetitions={slices}", "--benchmark_format=json"))
        runs = [run for run in found["benchmarks"] if run["run_type"] == "iteration"]
        for run in runs:
            if run.get("error_occurred"):
                raise benchmark_failed(f"{name}: {run['error_message']}")
        if not runs:
            raise benchmark_failed(f"{program.name} measured nothing as {name}")
        unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
        best = min(runs, key=lambda run: run["real_time"])
        return best["real_time"] * unit[best["time_unit"]], best
