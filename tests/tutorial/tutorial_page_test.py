# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/tutorial_page.py: it finds what it is there to find.

Usage: tutorial_page_test.py   (with scripts/ in PYTHONPATH)
"""

import unittest

from tutorial_page import complaints, updated

SOURCE = """int main() {
  // [sum]
  if (true) {
    print(1 + 1);
  }
  // [/sum]
}
"""
OUTPUT = "== sum ==\n2 on cpu\ntook 3.5 ms\n"
PAGE = """<!-- varies: [0-9.]+ ms -->
```cpp sum
if (true) {
  print(1 + 1);
}
```
```text sum
2 on cpu
took 7 ms
```
"""


class tutorial_page(unittest.TestCase):
    def test_accepts_a_page_that_is_right(self):
        self.assertEqual(complaints(PAGE, SOURCE, OUTPUT), [])

    def test_finds_code_that_changed(self):
        self.assertIn("cpp sum", complaints(PAGE, SOURCE.replace("1 + 1", "2"), OUTPUT)[0])

    def test_finds_output_that_changed(self):
        self.assertIn("text sum", complaints(PAGE, SOURCE, OUTPUT.replace("2 on", "3 on"))[0])

    def test_lets_only_lines_of_devices_differ_with_cuda(self):
        elsewhere = OUTPUT.replace("cpu", "cuda:0")
        self.assertNotEqual(complaints(PAGE, SOURCE, elsewhere), [])
        self.assertEqual(complaints(PAGE, SOURCE, elsewhere, cuda=True), [])
        self.assertNotEqual(complaints(PAGE, SOURCE, elsewhere.replace("took", "x"), cuda=True), [])

    def test_lets_a_part_be_as_the_page_quotes_it_with_cuda(self):
        elsewhere = OUTPUT.replace("2 on cpu", "other places: cpu, cuda:0")
        quoted = PAGE + "\nOn a GPU it prints `other places: cpu, cuda:0`.\n"
        self.assertNotEqual(complaints(quoted, SOURCE, elsewhere), [])
        self.assertEqual(complaints(quoted, SOURCE, elsewhere, cuda=True), [])
        longer = elsewhere.replace("cuda:0", "cuda:0\nand more")
        self.assertNotEqual(complaints(quoted, SOURCE, longer, cuda=True), [])

    def test_finds_parts_that_are_not_shown(self):
        found = complaints("", SOURCE, OUTPUT)
        self.assertEqual(len(found), 2)

    def test_finds_blocks_of_parts_that_are_gone(self):
        self.assertEqual(len(complaints(PAGE, "", "")), 2)

    def test_rewrites_a_page(self):
        old = PAGE.replace("print(1 + 1)", "print(0)").replace("2 on cpu", "0 on cpu")
        new = updated(old, SOURCE, OUTPUT)
        self.assertEqual(new, PAGE.replace("7 ms", "3.5 ms"))


if __name__ == "__main__":
    unittest.main()
