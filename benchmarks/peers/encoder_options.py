# SPDX-License-Identifier: Apache-2.0
"""Compares topos' sentence encoder with sentence-transformers, ONNX Runtime and OpenVINO on the CPU, at f32.

All sides run in turn, round by round, each with batches of 32 and its tokenisation included; the peers stay loaded
and sleep meanwhile. Each peer runs as the fastest of its variants on that workload. Exit code: 0 when every target is
met, 1 when one is missed, 2 when something could not run.
"""
import argparse
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="benchmarks/compare encoder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=10000, help="how often the seed's text is encoded [10000]")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each workload [3]")
    parser.add_argument("--threads", type=int, default=2, help="threads of every side, and CPUs all share [2]")
    parser.add_argument("--texts", type=pathlib.Path, help="texts of mixed length, a text a line [2,000 made]")
    parser.add_argument("--token-texts", type=pathlib.Path, help="lines for the token ids [100,000 made]")
    parser.add_argument("--model", type=pathlib.Path, help="the model's folder [.deps/all-MiniLM-L6-v2]")
    parser.add_argument("--program", type=pathlib.Path, help="topos' program [that of build/host]",
                        default=ROOT / "build/host/examples/sentence_encoder/sentence_encoder")
    parser.add_argument("--peers-dir", type=pathlib.Path, help="where exports and texts are kept [.deps/peers]")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures, versions and the machine there")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--check", action="store_true", help="correctness only")
    part.add_argument("--speed", action="store_true", help="speed only")
    options = parser.parse_args(arguments)
    for name in ("count", "rounds", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if not os.access(options.program, os.X_OK) or options.program.is_dir():
        parser.error(f"no program {options.program}; build it (scripts/demo does) or name one by --program")
    for file in (options.texts, options.token_texts):
        if file and not file.is_file():
            parser.error(f"no file {file}")
    # Here, so that a run of minutes does not end with a file that cannot be written.
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"no folder {options.json.absolute().parent} for --json")
    return options


if __name__ == "__main__":
    # Checks the options, or prints the help, before anything is installed.
    parse(sys.argv[1:])
