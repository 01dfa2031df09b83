#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes examples/sentence_encoder/unicode_table.hpp by asking the peer about every code point.

    unicode_table.py --output examples/sentence_encoder/unicode_table.hpp

The peer is HuggingFace tokenizers (BertNormalizer, BertPreTokenizer, NFD). Its parts use tables of
several Unicode versions, none of them utf8proc's, so what it does with a code point is measured, not
derived. utf8proc keeps the two large jobs, decomposition and lower-casing, but is asked only about
code points that the peer changes: a newer utf8proc then cannot change the tokens. Python 3.11 is
needed: its Unicode 14 is that of the oldest utf8proc supported (2.8).
"""
import argparse
import sys
import unicodedata

import tokenizers
from tokenizers import normalizers, pre_tokenizers

REMOVED, SPACE, IDEOGRAPH, MARK, PUNCTUATION, DECOMPOSES, CASED, REORDERS = (1 << i for i in range(8))
POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def bert(**on):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**options, **on}).normalize_str


def ranges(points, may_cross=lambda c: False):
    """Joins code points to [first, last]; a gap is crossed where may_cross holds for all of it."""
    joined = []
    for c in sorted(points):
        if joined and all(may_cross(x) for x in range(joined[-1][1] + 1, c)):
            joined[-1][1] = c
        else:
            joined.append([c, c])
    return joined


def combining_classes(nfd, candidates):
    """The peer's canonical combining class of each candidate, from how it reorders pairs.

    Only classes that are not 0; None stands for one that lies between those probed.
    """
    old = unicodedata.ucd_3_2_0  # assigned long enough ago for every table to know it
    probes = {}
    for c in POINTS:
        k = old.combining(chr(c))
        if k and nfd(chr(c)) == chr(c):
            probes.setdefault(k, chr(c))
    first, last = probes[min(probes)], probes[max(probes)]
    classes = {}
    for c in candidates:
        s = chr(c)
        if nfd(s + first) == s + first and nfd(last + s) == last + s:
            continue
        above = {k for k, p in probes.items() if nfd(p + s) != p + s}  # s moves before p: 0 < class < k
        below = {k for k, p in probes.items() if nfd(s + p) != s + p}  # p moves before s: class > k
        equal = probes.keys() - above - below
        classes[c] = equal.pop() if equal else None
    return classes


def measure():
    nfd = normalizers.NFD().normalize_str
    clean, spaced = bert(clean_text=True), bert(handle_chinese_chars=True)
    strip, lower = bert(strip_accents=True), bert(lowercase=True)
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    bits = dict.fromkeys(POINTS, 0)
    decomposed, lowered = {}, {}
    for c in POINTS:
        s = chr(c)
        cleaned = clean(f"a{s}b")
        if cleaned == "ab":
            bits[c] |= REMOVED
            continue
        if cleaned == "a b":
            bits[c] |= SPACE
            continue
        if spaced(f"a{s}b") == f"a {s} b":
            bits[c] |= IDEOGRAPH
        if nfd(s) != s:
            decomposed[c] = nfd(s)
        if strip(f"a{s}b") == "ab":
            bits[c] |= MARK
        if len(split(f"a{s}b")) == 3:
            bits[c] |= PUNCTUATION
        if lower(s) != s:
            lowered[c] = lower(s)
    return nfd, bits, decomposed, lowered


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--output", required=True)
    options = arguments.parse_args()
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"Unicode 14 is needed (Python 3.11); this Python has {unicodedata.unidata_version}")

    nfd, bits, decomposed, lowered = measure()

    # A multiple lower-case form must be unreachable, as it is for U+0130, which decomposes first.
    for c, text in list(lowered.items()):
        if len(text) != 1:
            if c not in decomposed:
                sys.exit(f"U+{c:04X} has a lower-case form of several code points")
            del lowered[c]

    def known(c):  # assigned in Unicode 14, so every utf8proc since agrees on it
        return unicodedata.category(chr(c)) not in ("Cn", "Cs")

    odd = [c for c in decomposed if unicodedata.normalize("NFD", chr(c)) != decomposed[c]]
    if odd:
        sys.exit(f"the peer decomposes {odd[:5]} in its own way")
    unlike = [c for c in POINTS if known(c) and c not in decomposed and unicodedata.normalize("NFD", chr(c)) != chr(c)]
    for first, last in ranges(decomposed, lambda c: known(c) and c not in unlike):
        for c in range(first, last + 1):
            bits[c] |= DECOMPOSES
    for first, last in ranges(lowered, known):
        for c in range(first, last + 1):
            bits[c] |= CASED
    for c in POINTS:
        if c not in lowered and known(c) and len(chr(c).lower()) == 1 and chr(c).lower() != chr(c):
            sys.exit(f"U+{c:04X} has a lower-case form that the peer does not know")
    extra = {c: ord(lowered[c]) for c in lowered if chr(c).lower() != lowered[c]}
    if any(known(c) for c in extra):
        sys.exit("the peer lower-cases an old code point in its own way")

    # The class of a mark matters only as far as 0 or not: a mark of class 0 stops the reordering.
    candidates = [c for c in POINTS if not bits[c] & (REMOVED | SPACE) and c not in decomposed]
    classes = combining_classes(nfd, candidates)
    for c in candidates:
        here, there = classes.get(c, 0), unicodedata.combining(chr(c))
        if bits[c] & MARK:
            if (here == 0) != (there == 0):
                sys.exit(f"U+{c:04X}: combining class {here} here, {there} in Unicode 14")
        elif here != 0:
            if here != there or bits[c] & (SPACE | IDEOGRAPH | PUNCTUATION | CASED):
                sys.exit(f"U+{c:04X} reorders as {here}, not {there}, or is something else too")
            bits[c] |= REORDERS

    for c, text in decomposed.items():
        for d in map(ord, text):
            if bits[d] & (REMOVED | SPACE) or (bits[d] & IDEOGRAPH and not bits[c] & IDEOGRAPH):
                sys.exit(f"U+{c:04X} decomposes to what cleaning would have changed")

    runs = []
    for c in range(0x110000):
        b = bits.get(c, 0)
        if b and runs and runs[-1][2] == b and runs[-1][1] == c - 1:
            runs[-1][1] = c
        elif b:
            runs.append([c, c, b])
    steps = []
    for c, to in sorted(extra.items()):
        if steps and steps[-1][1] == c - 1 and steps[-1][2] == to - c:
            steps[-1][1] = c
        else:
            steps.append([c, c, to - c])

    def rows(cells):
        lines, line = [], ""
        for cell in cells:
            if len(line) + len(cell) + 6 > 100:
                lines.append(line)
                line = ""
            line += ("    " if not line else " ") + cell
        return "\n".join(lines + [line])

    with open(options.output, "w", encoding="ascii", newline="\n") as out:
        out.write(f"""// SPDX-License-Identifier: Apache-2.0
// What BertNormalizer and BertPreTokenizer of tokenizers {tokenizers.__version__} do with each code point.
// Made by scripts/reference/unicode_table.py; do not edit.
#pragma once

#include <cstdint>

namespace sentence_encoder::unicode_table {{

struct range {{
  std::uint32_t first;
  std::uint32_t last;
  std::uint8_t traits;  // bits of sentence_encoder::trait
}};

struct shift {{
  std::uint32_t first;
  std::uint32_t last;
  std::int32_t distance;
}};

// clang-format off
/// Code points with any trait, in order, without overlap.
inline constexpr range ranges[] = {{
{rows(f"{{0x{a:x}, 0x{b:x}, {t}}}," for a, b, t in runs)}
}};

/// Lower-case forms that are newer than Unicode 14.
inline constexpr shift newer_cases[] = {{
{rows(f"{{0x{a:x}, 0x{b:x}, {t}}}," for a, b, t in steps)}
}};
// clang-format on

}}  // namespace sentence_encoder::unicode_table
""")


if __name__ == "__main__":
    main()
