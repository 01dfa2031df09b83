#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes varied texts, a text a line, to try tokenizers and encoders on.

    texts.py --count N --seed S --model DIR --output FILE [--max-tokens 256] [--kind mixed]

The same count, seed and vocabulary give the same file on every machine. A line ends with \\n; no text holds
a character that some reader takes for the end of a line. Kinds: mixed (sentences, many scripts, and what is
odd), sentences (English-like only), random (code points of all planes only),
broken (mixed, with bytes that make it no UTF-8).
"""
import argparse
import pathlib

# What str.splitlines and universal newlines split at.
LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"

SCRIPTS = {
    "latin": [(0xC0, 0x24F), (0x1E00, 0x1EFF)],
    "greek": [(0x370, 0x3FF), (0x1F00, 0x1FFE)],
    "cyrillic": [(0x400, 0x52F)],
    "armenian": [(0x531, 0x58A)],
    "hebrew": [(0x591, 0x5F4)],
    "arabic": [(0x600, 0x6FF), (0xFB50, 0xFDFF)],
    "devanagari": [(0x900, 0x97F)],
    "bengali": [(0x980, 0x9FE)],
    "tamil": [(0xB82, 0xBFA)],
    "thai": [(0xE01, 0xE5B)],
    "tibetan": [(0xF00, 0xFDA)],
    "georgian": [(0x10A0, 0x10FF), (0x1C90, 0x1CBF)],
    "hangul": [(0xAC00, 0xD7A3), (0x1100, 0x11FF)],
    "kana": [(0x3041, 0x30FF)],
    "ideographs": [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAD9), (0x20000, 0x2A6DF)],
    "balinese": [(0x1B00, 0x1B7E)],
    "cherokee": [(0x13A0, 0x13FD), (0xAB70, 0xABBF)],
    "mathematics": [(0x2200, 0x22FF), (0x1D400, 0x1D7FF)],
    "music": [(0x1D15E, 0x1D1C0)],
}
MARKS = [(0x300, 0x36F), (0x1AB0, 0x1ACE), (0x1DC0, 0x1DFF), (0x20D0, 0x20F0), (0x302A, 0x302F)]
EMOJI = [(0x1F300, 0x1F64F), (0x1F680, 0x1F6FC), (0x1F900, 0x1F9FF), (0x2600, 0x27BF)]
CONTROLS = [(0x0, 0x9), (0xE, 0x1B), (0x7F, 0x84), (0x86, 0x9F), (0x200B, 0x200F), (0x202A, 0x202E)]
SPACES = "\t\u00a0\u1680\u2000\u2003\u2009\u202f\u205f\u3000"
PHRASES = (
    "naïve café Zürich Łódź Đà Nẵng São Paulo", "cafe\u0301 A\u030angstro\u0308m e\u0323\u0302 n\u0303",
    "İstanbul Diyarbakır IĞDIR ı i̇", "STRASSE Straße ẞ ﬁne ﬂow oﬃce", "ΟΔΥΣΣΕΥΣ Σίσυφος ᾼ ῼ",
    "Съешь же ещё этих мягких булок", "שָׁלוֹם עֲלֵיכֶם", "السَّلَامُ عَلَيْكُمْ ورحمة الله",
    "क्षत्रिय नमस्ते दुनिया", "สวัสดีชาวโลก น้ำ", "안녕하세요 세계 각 한글", "こんにちは世界 ガギグ ｶﾞｷﾞ",
    "我爱北京天安门。豈更車", "საქართველო ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ", "👨‍👩‍👧‍👦 👍🏽 🇩🇪 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "½ ² ① Ⅷ № ™ K Å",
    "“quoted” ‘single’ — dash – en … «guillemets» ¿qué? ¡sí!", "don't won't I'm o'clock rock'n'roll",
)
SPECIALS = ("[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "[cls]", "[CLS", "[[SEP]]", "[MASK]]", "[unused1]")
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
# Overlong, a surrogate, beyond U+10FFFF, cut off.
BROKEN = (b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf0\x9f\x98")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Generator:
    """splitmix64 (Steele, Lea, Flood 2014), so that no release of Python changes the texts."""

    def __init__(self, seed):
        self.state = seed & (2**64 - 1)

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return (z ^ (z >> 31)) % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def choose(self, items):
        return items[self.below(len(items))]

    def point(self, ranges):
        low, high = self.choose(ranges)
        return chr(self.between(low, high))

    def any_point(self):
        while True:
            c = self.below(0x110000) if self.below(3) else self.below(0x3100)
            if not 0xD800 <= c < 0xE000 and chr(c) not in LINE_ENDS:
                return chr(c)


class Writer:
    def __init__(self, generator, vocabulary, max_tokens):
        self.random = generator
        words = [t for t in vocabulary if t.isascii() and t.isalpha()]
        # The vocabulary is ordered by frequency, more or less: a text draws from its front more often.
        self.words = words
        self.endings = [t[2:] for t in vocabulary if t.startswith("##") and t[2:].isascii() and t[2:].isalpha()]
        self.max_tokens = max_tokens

    def length(self):
        """Words of a text: mostly some dozens, a few texts longer than a model takes."""
        random = self.random
        kind = random.below(100)
        if kind < 12:
            return random.between(1, 6)
        if kind < 72:
            return random.between(5, 30)
        if kind < 96:
            return random.between(20, 80)
        return random.between(60, max(61, self.max_tokens * 6 // 5))

    def word(self):
        random = self.random
        front = min(len(self.words), 4000)
        word = self.words[random.below(front)] if random.below(4) else random.choose(self.words)
        kind = random.below(40)
        if kind == 0:
            return word + random.choose(self.endings)
        if kind == 1:
            return word.upper()
        if kind == 2:
            return word + "'s"
        if kind == 3:
            return word + "-" + random.choose(self.words)
        if kind == 4:
            return str(random.below(10 ** random.between(1, 6)))
        return word

    def sentences(self):
        random, left, out = self.random, self.length(), []
        while left > 0:
            n = min(left, random.between(3, 22))
            left -= n
            words = [self.word() for _ in range(n)]
            words[0] = words[0].capitalize()
            for i in range(len(words) - 1):
                if random.below(12) == 0:
                    words[i] += random.choose([",", ";", ":", " -", " (", ")"])
            out.append(" ".join(words) + random.choose([".", ".", ".", "?", "!", ""]))
        return " ".join(out)

    def script(self):
        random = self.random
        ranges = random.choose(list(SCRIPTS.values()))
        words = []
        for _ in range(random.between(1, 12)):
            word = ""
            for _ in range(random.between(1, 9)):
                word += random.point(ranges)
                if random.below(8) == 0:
                    word += random.point(MARKS)
            words.append(word)
        return " ".join(words)

    def emoji(self):
        random, out = self.random, ""
        for _ in range(random.between(1, 8)):
            out += random.point(EMOJI)
            out += random.choose(["", "\ufe0f", chr(random.between(0x1F3FB, 0x1F3FF)), "\u200d", " "])
        return out

    def number(self):
        random = self.random
        a, b = random.below(10**6), random.below(1000)
        form = ("{a}", "-{a}.{b}", "{a},{b:03d}", "${a}.{b}", "{b}%", "1.{b}e-{b}", "0x{a:x}", "+{b} {a}-{a}",
                "v{b}.{b}")
        return random.choose(form).format(a=a, b=b)

    def code(self):
        random = self.random
        name = "_".join(random.choose(self.words) for _ in range(random.between(1, 3)))
        form = ("if (x->{n}[{k}] != 0) {{ return &{n}; }}", "def {n}(self, *args): return {k}",
                "<a href=\"{n}\">{n}</a>",
                "std::vector<{n}> v{{{k}}};\t// {n}", "SELECT {n} FROM t WHERE id={k};", "{{\"{n}\": [{k}, null]}}",
                "https://www.{n}.org/{n}?q={k}&x=%20#{n}", "mail {n}@{n}.com", "C:\\{n}\\{n}.txt",
                "$ ls -la ~/{n} | grep {k}")
        return random.choose(form).format(n=name, k=random.below(1000))

    def long_word(self):
        random = self.random
        alphabet = random.choose([LETTERS, LETTERS.upper(), "ab", "аб", "é", "e\u0301", "漢", "0123456789", "ก"])
        return "".join(random.choose(alphabet) for _ in range(random.between(90, 260)))

    def controls(self):
        random = self.random
        word = self.word() + " " + self.word()
        for _ in range(random.between(1, 4)):
            at = random.below(len(word) + 1)
            odd = random.choose(SPACES) if random.below(2) else random.point(CONTROLS)
            word = word[:at] + (odd if odd not in LINE_ENDS else "\ufffd") + word[at:]
        return word

    def mixture(self):
        random = self.random
        parts = [self.script, self.emoji, self.number, self.code, self.controls, self.long_word,
                 lambda: random.choose(PHRASES), lambda: random.choose(SPECIALS), self.word, self.word, self.word,
                 lambda: "".join(random.choose(PUNCTUATION) for _ in range(random.between(1, 12))),
                 lambda: "".join(random.any_point() for _ in range(random.between(1, 8)))]
        out = ""
        for _ in range(random.between(1, 8)):
            out += random.choose(parts)() + random.choose([" ", " ", " ", "", "  "])
        return out

    def random_points(self):
        return "".join(self.random.any_point() for _ in range(self.random.between(1, 40)))

    def broken(self):
        """A short text as bytes, some of which are lost, changed or cut off within a character."""
        random = self.random
        text = bytearray((self.script() + " " + self.mixture()).encode("utf-8")[: random.between(1, 120)])
        for _ in range(random.between(1, 6)):
            at = random.below(len(text) + 1)
            kind = random.below(3)
            if kind == 0:
                del text[at : at + 1]
            elif kind == 1:
                text[at:at] = bytes([random.between(0x80, 0xFF)])
            else:
                text[at:at] = random.choose(BROKEN)
        return bytes(text)

    def text(self, kind):
        if kind == "sentences":
            return self.sentences()
        if kind == "random":
            return self.random_points()
        pick = self.random.below(100)
        if pick == 0:
            return self.random.choose(["", " ", "\t", "\u200b", "a", "."])
        if pick < 65:
            return self.sentences()
        if pick < 72:
            return self.sentences() + " " + self.mixture()
        if pick < 78:
            return self.script()
        if pick < 80:
            return self.random_points()
        return self.mixture()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--count", type=int, required=True)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--model", required=True, help="the folder of the model, for its vocab.txt")
    arguments.add_argument("--output", required=True)
    arguments.add_argument("--max-tokens", type=int, default=256, help="the length that few texts exceed")
    arguments.add_argument("--kind", choices=["mixed", "sentences", "random", "broken"], default="mixed")
    options = arguments.parse_args()
    vocabulary = (pathlib.Path(options.model) / "vocab.txt").read_text(encoding="utf-8").split("\n")
    writer = Writer(Generator(options.seed), vocabulary, options.max_tokens)
    with open(options.output, "wb") as out:
        for _ in range(options.count):
            text = writer.broken() if options.kind == "broken" else writer.text(options.kind).encode("utf-8")
            out.write(text + b"\n")


if __name__ == "__main__":
    main()
