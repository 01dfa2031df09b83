# SPDX-License-Identifier: Apache-2.0
"""topos' side: the sentence_encoder program, run afresh for each figure as a user runs it."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MEASURED_RUN = pathlib.Path(__file__).with_name("measured_run.py")
RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?) *texts/s")


class program_failed(Exception):
    """The program ended with an error, or did not say what was asked."""


@dataclasses.dataclass
class outcome:
    seconds: float  # wall time of the whole process, loading included
    peak_bytes: int  # peak resident memory
    output: str  # standard output and standard error together

    def texts_per_second(self, texts):
        """The rate the program itself reports, which leaves out loading. Raises program_failed."""
        rates = RATE.findall(self.output)
        if not rates or float(rates[-1]) == 0:
            raise program_failed(f"the program printed no 'N texts/s', but:\n{self.output[-2000:]}")
        rate = float(rates[-1])
        # What it claims to have spent on the texts must fit into the time it ran; 5 % and 0.1 s cover the rounding.
        if texts / rate > 1.05 * self.seconds + 0.1:
            raise program_failed(
                f"the program reports {rate} texts/s, but {texts} texts took the whole process "
                f"{self.seconds:.3f} s"
            )
        return rate


class topos_program:
    def __init__(self, path, model, threads):
        self.path, self.model, self.threads = str(path.absolute()), str(model), threads
        self.peak_bytes = 0  # the largest of all runs

    def run(self, *arguments, threads=None, stdout=None):
        """Runs the program to its end. stdout: a path that takes the standard output instead of outcome.output."""
        count = str(threads or self.threads)
        environment = dict(os.environ, OMP_NUM_THREADS=count, KOKKOS_NUM_THREADS=count)
        command = [self.path, "--device", "cpu", "--model", self.model, *map(str, arguments)]
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "report.json")
            printed = pathlib.Path(folder, "printed.txt")
            with open(printed, "wb") as messages, open(stdout or os.devnull, "wb") as file:
                code = subprocess.run(
                    [sys.executable, "-I", "-S", str(MEASURED_RUN), str(report), *command],
                    stdin=subprocess.DEVNULL,
                    stdout=file if stdout else messages,
                    stderr=messages,
                    env=environment,
                ).returncode
            text = printed.read_text("utf-8", errors="replace")
            if code != 0 or not report.exists():
                raise program_failed(f"{' '.join(command)}\nended with {code}:\n{text[-2000:]}")
            measured = json.loads(report.read_text())
        self.peak_bytes = max(self.peak_bytes, measured["peak_bytes"])
        return outcome(measured["seconds"], measured["peak_bytes"], text)
