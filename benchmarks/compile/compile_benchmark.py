# SPDX-License-Identifier: Apache-2.0
"""Prints what headers and small programs cost to compile: seconds of CPU and peak memory.

Usage: compile_benchmark.py COMPILE_COMMANDS [ROUNDS]

COMPILE_COMMANDS is the build's compile_commands.json, whose command for chain.cpp is used for all.
Of ROUNDS runs (3), one after the other, the least counts. CPU seconds do not depend on what else
the machine does as much as wall time does. All is compiled for the compiler's default CPU: g++ 12
at -O0 does not compile what xsimd 8 has for AVX-512.
"""

import json
import os
import pathlib
import shlex
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
HEADERS = [
    "Kokkos_Core.hpp", "topos/device/device.hpp", "topos/expr/elementwise.hpp", "topos/tensor/tensor.hpp",
    "topos/tensor/reduction.hpp", "topos/random/normal.hpp", "topos/linalg/matmul.hpp", "topos/topos.hpp",
    "topos/nn.hpp", "topos/executor.hpp", "topos/io.hpp",
]
WAYS = {"-fsyntax-only": ["-fsyntax-only"], "-O0": ["-O0"], "-O3": ["-O3"]}


def command_for_chain(path):
    """The compiler and its options, without what is particular to the file and the optimisation."""
    entries = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    entry = next(e for e in entries if pathlib.Path(e["file"]) == HERE / "chain.cpp")
    words = shlex.split(entry["command"])
    kept = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == "-o":
            skip = True
        elif word != "-c" and word != entry["file"] and not word.startswith(("-O", "-march=")):
            kept.append(word)
    return kept


def cost(command):
    """CPU seconds and peak MB of a command."""
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    if status != 0:
        sys.exit("failed: " + shlex.join(command))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(path, rounds):
    base = command_for_chain(path)
    print("CPU seconds (peak MB)        " + "".join(f"{way:>16}" for way in WAYS))
    with tempfile.TemporaryDirectory() as scratch:
        probes = []
        for header in HEADERS:
            probe = pathlib.Path(scratch) / f"probe_{len(probes)}.cpp"
            probe.write_text(f"#include <{header}>\n", encoding="utf-8")
            probes.append((f"<{header}>", probe))
        probes.append(("chain.cpp", HERE / "chain.cpp"))
        probes += [(p.parent.name, p) for p in sorted(EXAMPLES.glob("[0-9][0-9]_*/main.cpp"))]
        for name, source in probes:
            cells = []
            for options in WAYS.values():
                runs = [cost([*base, *options, "-c", str(source), "-o", f"{scratch}/probe.o"])
                        for _ in range(rounds)]
                cells.append(f"{min(r[0] for r in runs):8.2f} ({max(r[1] for r in runs):4.0f})")
            print(f"{name:<29}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 3)
