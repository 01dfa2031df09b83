# SPDX-License-Identifier: Apache-2.0
"""Fails where a header includes upward, folders include each other in a circle, a backend's words
stand outside backend/, or a header is too long.

Usage: check_layering.py FOLDER   (the folder include/topos)
"""

import pathlib
import re
import sys

# Each layer may include those before it.
LAYERS = [
    "core", "backend", "device", "memory", "async", "expr", "kernels", "tensor", "random", "linalg",
    "nn", "executor", "io",
]
# What the order alone would allow, and the design does not.
FORBIDDEN = {"executor": {"nn"}, "io": {"nn", "executor"}}
UMBRELLAS = {"topos.hpp", "nn.hpp", "executor.hpp", "io.hpp"}
LONGEST = 400
# Libraries of a backend that provide an operation, each through one header of its name (linalg/cublas.hpp).
PROVIDERS = {"cublas", "cudnn"}
# The numbers that all those libraries multiply, under one name.
LIBRARY_TYPES = re.compile(r"cudaDataType_t|CUDA_[RC]_\d+\w*")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b")
PRAGMA_ONCE = re.compile(r"^\s*#\s*pragma\s+once\b")
# Calls, types and macros of CUDA and its libraries, and Kokkos' spaces; not the word "cuda" in a device string.
BACKEND_WORDS = re.compile(
    r"KOKKOS_ENABLE_\w*|\bcuda[A-Z]\w*|\bcu(?:blas|dnn|rand|fft|solver)[A-Z]\w*|\bCU(?:DA|BLAS|DNN)_\w+|"
    r"\b__CUDA\w*|\bCUDART_\w+|<<<|"
    r"\bKokkos::(?:Cuda|CudaSpace|CudaUVMSpace|CudaHostPinnedSpace|HIP|HIPSpace|OpenMP|Serial|Threads|HPX)\b"
    r"|\bKokkos::Experimental::(?:SYCL|HPX|OpenMPTarget|OpenACC)\b"
)
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^ ()\\\n]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)


def without_comments_and_strings(text):
    """The code alone, with its line numbers; include lines keep what they name."""

    def blank(match):
        return "\n" * match.group(0).count("\n") if match.group(0)[0] == "/" else '""'

    lines = text.split("\n")
    code = COMMENT_OR_STRING.sub(lambda m: blank(m) if "\n" in m.group(0) or m.group(0)[0] == "/"
                                 else '"' + " " * (len(m.group(0)) - 2) + '"', text).split("\n")
    return [lines[i] if INCLUDE.match(lines[i]) and line.strip() else line for i, line in enumerate(code)]


def layer_of(path):
    """The folder that a path relative to include/topos lies in; None for an umbrella."""
    return path.parts[0] if len(path.parts) > 1 else None


def target_of(quote, name, path):
    """What an include names, relative to include/topos; None for what is not topos'."""
    if name.startswith("topos/"):
        return pathlib.PurePosixPath(name[len("topos/"):])
    if quote == '"':
        parts = []
        for part in (path.parent / name).parts:
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part != ".":
                parts.append(part)
        return pathlib.PurePosixPath(*parts)
    return None


def may_speak_of(word, path):
    """Whether a backend's word may stand in a header: in backend/, or in the one file of its library."""
    if layer_of(path) == "backend" or str(path) == "core/config.hpp":
        return True
    return path.stem in PROVIDERS and (word.lower().startswith(path.stem) or LIBRARY_TYPES.match(word) is not None)


def foreign_words(line, path):
    return [w.group(0) for w in BACKEND_WORDS.finditer(line) if not may_speak_of(w.group(0), path)]


def find_circle(edges):
    """One circle among the folders, as a list that begins and ends with the same name; or None."""
    done = set()

    def visit(node, trail):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return None
        for successor in sorted(edges.get(node, ())):
            circle = visit(successor, trail + [node])
            if circle:
                return circle
        done.add(node)
        return None

    for start in sorted(edges):
        circle = visit(start, [])
        if circle:
            return circle
    return None


def check_umbrella(path, code):
    problems = []
    if str(path) not in UMBRELLAS:
        problems.append(f"{path}: lies in no layer; the umbrellas are {', '.join(sorted(UMBRELLAS))}")
    for number, line in enumerate(code, 1):
        if line.strip() and not INCLUDE.match(line) and not PRAGMA_ONCE.match(line) \
                and not CONDITIONAL.match(line):
            problems.append(f"{path}:{number}: an umbrella holds includes only")
            break
    return problems


def check(root):
    """All problems of the headers under a folder, as lines of text."""
    root = pathlib.Path(root)
    headers = sorted(root.rglob("*.hpp"))
    problems = [] if headers else [f"{root}: no header found"]
    known = {pathlib.PurePosixPath(h.relative_to(root).as_posix()) for h in headers}
    edges = {}
    for header in headers:
        path = pathlib.PurePosixPath(header.relative_to(root).as_posix())
        text = header.read_text(encoding="utf-8")
        code = without_comments_and_strings(text)
        layer = layer_of(path)
        length = len(text.splitlines())
        if length > LONGEST:
            problems.append(f"{path}: {length} lines; at most {LONGEST}")
        if layer is None:
            problems += check_umbrella(path, code)
        elif layer not in LAYERS:
            problems.append(f"{path}: {layer}/ is not one of the layers {', '.join(LAYERS)}")
        for number, line in enumerate(code, 1):
            include = INCLUDE.match(line)
            if not include:
                for word in foreign_words(line, path):
                    problems.append(f"{path}:{number}: {word} belongs into backend/")
                continue
            target = target_of(*include.groups(), path)
            if target is None:
                name = include.group(2)
                if re.match(r"(cuda|cublas|cudnn|curand|cooperative_groups|nv/)", name) \
                        and not may_speak_of(name, path):
                    problems.append(f"{path}:{number}: <{name}> belongs into backend/")
                continue
            if target not in known:
                problems.append(f"{path}:{number}: topos/{target} does not exist")
                continue
            other = layer_of(target)
            if layer is None:
                continue
            if other is None:
                problems.append(f"{path}:{number}: includes the umbrella topos/{target}")
                continue
            if other == layer:
                continue
            edges.setdefault(layer, set()).add(other)
            if layer not in LAYERS or other not in LAYERS:
                continue
            if other in FORBIDDEN.get(layer, ()):
                problems.append(f"{path}:{number}: {layer}/ must not include {other}/ (topos/{target})")
            elif LAYERS.index(other) > LAYERS.index(layer):
                problems.append(f"{path}:{number}: {layer}/ is below {other}/ (topos/{target})")
    circle = find_circle(edges)
    if circle:
        problems.append("folders include each other: " + " -> ".join(circle))
    return problems


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    problems = check(arguments[0])
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
