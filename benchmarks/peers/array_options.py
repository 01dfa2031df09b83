# SPDX-License-Identifier: Apache-2.0
"""Compares topos' array core with JAX, PyTorch, xtensor and a bare loop, at f32: on the CPU, or on a GPU.

All sides run in turn, round by round and row by row, on the same CPUs; a time is the least of all rounds. The C++ sides are
Google Benchmark programs of preset host, the others stay loaded and sleep meanwhile. On a GPU they are those of preset
cuda (--programs), and the peers those that python3 of this machine has (--peers-dir is where their messages go).
Exit code: 0 when every target is met, 1 when one is missed, 2 when something could not run.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="benchmarks/compare array",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=re.compile, default=re.compile(""), metavar="REGEX",
                        help="rows to run, by their names, such as map/ or 'sum|max' [all]")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each row [3]")
    parser.add_argument("--seconds", type=float, default=0.3, help="of measuring, for a side, row and round [0.3]")
    parser.add_argument("--threads", type=int, default=2, help="threads of every side, and CPUs all share [2]")
    parser.add_argument("--device", default="cpu", metavar="NAME", help="cpu, or cuda:0 [cpu]")
    parser.add_argument("--programs", type=pathlib.Path, help="folder of the C++ sides' programs [they are built]")
    parser.add_argument("--peers-dir", type=pathlib.Path, help="where the peers' messages are kept [.deps/peers]")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures, versions and the machine there")
    options = parser.parse_args(arguments)
    for name in ("rounds", "threads", "seconds"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be more than 0")
    if options.programs and not options.programs.is_dir():
        parser.error(f"no folder {options.programs}")
    # Here, so that a run of minutes does not end with a file that cannot be written.
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"no folder {options.json.absolute().parent} for --json")
    return options


if __name__ == "__main__":
    # Checks the options, or prints the help, before anything is built or installed.
    parse(sys.argv[1:])
