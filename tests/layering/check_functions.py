# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/functions.md names each public function: check_functions.py <include/topos> <functions.md>."""

import pathlib
import re
import sys

# Parts of the library that the page lists whole: the others are classes, or for those who extend it.
FOLDERS = ("device", "expr", "io", "linalg", "memory", "random", "tensor")
# Fewer, and the headers are not written as they are read here.
LEAST = 160

TOKEN = re.compile(
    r"namespace\s+(?P<space>[\w:]*)\s*\{|(?P<open>\{)|(?P<close>\})"
    r"|\[\[nodiscard\]\]\s+(?:inline\s+|static\s+)*(?:auto|bool|int|device|std::\w+(?:<[^;{}()]*>)?|tensor<[^;{}()]*>"
    r"|memory_statistics)\s*&?\s+(?P<function>\w+)\("
    r"|TOPOS_FUNCTION_OF_(?:ONE|TWO)\((?P<made>\w+),"
)


def functions(path):
    """The functions that a header declares in namespace topos or topos::random."""
    text = re.sub(r"//[^\n]*|#define(?:[^\n]*\\\n)*[^\n]*", "", path.read_text())
    scopes = []
    for token in TOKEN.finditer(text):
        if token["open"]:
            scopes.append(None)
        elif token["close"]:
            if scopes:
                scopes.pop()
        elif name := token["function"] or token["made"]:
            if scopes and all(s in ("topos", "topos::random", "random") for s in scopes):
                yield name
        else:
            scopes.append(token["space"])


def main(include, page):
    listed = set(re.findall(r"\w+", pathlib.Path(page).read_text()))
    found = {}
    for folder in FOLDERS:
        for path in sorted((pathlib.Path(include) / folder).glob("*.hpp")):
            for name in functions(path):
                found.setdefault(name, path.name)
    missing = {name: where for name, where in found.items() if name not in listed}
    for name, where in sorted(missing.items()):
        print(f"{page} does not name {name} of {where}")
    if len(found) < LEAST:
        print(f"only {len(found)} functions found")
    return 1 if missing or len(found) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
