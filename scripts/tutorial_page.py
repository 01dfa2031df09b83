# SPDX-License-Identifier: Apache-2.0
"""Keeps a page of the tutorial equal to its example: the code that it shows to the example's
marked regions, and the output that it shows to what the example prints.

Usage: tutorial_page.py [--check] [--cuda] PAGE SOURCE PROGRAM [ARGUMENT...]

Without --check the page's blocks are rewritten. A block "```cpp NAME" of the page holds the lines
between "// [NAME]" and "// [/NAME]" of the source, a block "```text NAME" what the program prints
after its line "== NAME ==". What a regular expression in a line "<!-- varies: ... -->" of the page
matches may differ from machine to machine; so may, under --cuda, lines that name a device, and a
whole block where its text elsewhere quotes, as `...`, what the program prints.
"""

import pathlib
import re
import subprocess
import sys
import textwrap

BLOCK = re.compile(r"^```(cpp|text) (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REGION = re.compile(r"^ *// \[(\w+)\]\n(.*?)^ *// \[/\1\]$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^== (\w+) ==\n(.*?)(?=^== \w+ ==$|\Z)", re.MULTILINE | re.DOTALL)
VARIES = re.compile(r"^<!-- varies: (.*) -->$", re.MULTILINE)
DEVICE = re.compile(r"cpu|cuda|gpu", re.IGNORECASE)


def regions_of(source):
    """The marked regions of a source, without their common indentation."""
    return {name: textwrap.dedent(code) for name, code in REGION.findall(source)}


def sections_of(output):
    """What a program printed, by its headings."""
    return dict(SECTION.findall(output))


def comparable(text, varies, cuda):
    """A text without what may differ."""
    for pattern in varies:
        text = re.sub(pattern, "(varies)", text, flags=re.MULTILINE)
    lines = text.splitlines()
    return [line for line in lines if not (cuda and DEVICE.search(line))]


def complaints(page, source, output, cuda=False):
    """What is wrong with a page, a sentence each."""
    wanted = {"cpp": regions_of(source), "text": sections_of(output)}
    varies = VARIES.findall(page)
    found = []
    shown = {"cpp": set(), "text": set()}
    for kind, name, content in BLOCK.findall(page):
        shown[kind].add(name)
        if name not in wanted[kind]:
            found.append(f"{kind} {name}: the example has no such part")
        elif kind == "cpp" and content != wanted[kind][name]:
            found.append(f"cpp {name}: the page and the source differ")
        elif kind == "text":
            page_says = comparable(content, varies, cuda)
            program_says = comparable(wanted[kind][name], varies, cuda)
            if cuda and f"`{wanted[kind][name].strip()}`" in page:
                continue
            if page_says != program_says:
                found.append("\n".join([f"text {name}: the page says", *page_says,
                                        "the program prints", *program_says]))
    for kind, parts in wanted.items():
        for name in parts:
            if name not in shown[kind]:
                found.append(f"{kind} {name}: the page does not show it")
    return found


def updated(page, source, output):
    """The page with the content that its blocks should have."""
    wanted = {"cpp": regions_of(source), "text": sections_of(output)}
    return BLOCK.sub(
        lambda m: f"```{m[1]} {m[2]}\n{wanted[m[1]].get(m[2], m[3])}```", page)


def main(arguments):
    flags = {a for a in arguments if a in ("--check", "--cuda")}
    page_path, source_path, *command = (a for a in arguments if a not in flags)
    path = pathlib.Path(page_path)
    page = path.read_text(encoding="utf-8")
    source = pathlib.Path(source_path).read_text(encoding="utf-8")
    run = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if run.returncode != 0:
        sys.exit(f"{command[0]} ended with {run.returncode} after printing\n{run.stdout}")
    if "--check" not in flags:
        page = updated(page, source, run.stdout)
        path.write_text(page, encoding="utf-8")
    found = complaints(page, source, run.stdout, "--cuda" in flags)
    if found:
        sys.exit("\n".join([f"{page_path} is not what {source_path} says and does:", *found,
                            "Rewrite it with scripts/tutorial_page.py, and read it."]))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1:])
