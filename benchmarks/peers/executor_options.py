# SPDX-License-Identifier: Apache-2.0
"""Compares topos' batcher with Ray Serve's @serve.batch and Jina's dynamic batching, both on loopback.

All sides take single items, at most so many at once, and gather batches of up to 32: for a model that does nothing, and
for the sentence encoder (sentence-transformers' for the peers). They run in turn, round by round, on the same CPUs; a time
is the least of all rounds. A peer that cannot be installed is left out with the reason. Exit code: 0, or 2 when something
could not run.
"""
import argparse
import pathlib


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="benchmarks/compare executor",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each workload [3]")
    parser.add_argument("--threads", type=int, default=2, help="threads of every side, and CPUs all share [2]")
    parser.add_argument("--in-flight", type=int, default=256, help="items the peers are given at once [256, as topos]")
    parser.add_argument("--model", type=pathlib.Path, help="the encoder's folder [.deps/all-MiniLM-L6-v2]")
    parser.add_argument("--programs", type=pathlib.Path, help="folder of topos' program [it is built]")
    parser.add_argument("--peers-dir", type=pathlib.Path, help="where the peers are installed [.deps/peers]")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures, versions and the machine there")
    options = parser.parse_args(arguments)
    for name in ("rounds", "threads", "in_flight"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    if options.programs and not options.programs.is_dir():
        parser.error(f"no folder {options.programs}")
    # Here, so that a run of minutes does not end with a file that cannot be written.
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"no folder {options.json.absolute().parent} for --json")
    return options


if __name__ == "__main__":
    # Checks the options, or prints the help, before anything is built or installed.
    import sys

    parse(sys.argv[1:])
