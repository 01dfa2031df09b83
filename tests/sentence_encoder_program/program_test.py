#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs sentence_encoder as its user does: program_test.py PROGRAM MODEL_FOLDER."""

import ast
import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv[1]
MODEL = Path(sys.argv[2])
SKIPPED = 77


def run(*options, **settings):
    return subprocess.run(
        [PROGRAM, *map(str, options)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, **settings
    )


def read_npy(path):
    """The shape and the bytes of a float32 .npy file."""
    content = path.read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack("<H", content[8:10])
    header = ast.literal_eval(content[10 : 10 + length].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"]
    return header["shape"], content[10 + length :]


class program(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def refused(self, result, *words, code=1):
        """One line on stderr that holds the words, nothing on stdout."""
        message = result.stderr.decode()
        self.assertEqual(result.returncode, code, message)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(message.count("\n"), 1, message)
        for word in words:
            self.assertIn(str(word), message)

    def broken_model(self):
        model = self.folder / "model"
        model.mkdir()
        for name in ["config.json", "sentence_bert_config.json", "vocab.txt", "model.safetensors"]:
            (model / name).symlink_to(MODEL.resolve() / name)
        return model

    def replace(self, model, name, content):
        (model / name).unlink()
        (model / name).write_bytes(content)

    def test_help_is_no_error(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        for option in ["--device", "--request-size", "--count", "--input", "--output", "--model", "--tokens"]:
            self.assertIn(option, result.stdout.decode())

    def test_refuses_bad_options(self):
        self.refused(run("--bogus"), "--bogus", code=2)
        self.refused(run("--count", "-1"), "--count", code=2)
        self.refused(run("--count", "many"), "--count", code=2)
        self.refused(run("--request-size", "0"), "--request-size", code=2)

    def test_refuses_bad_devices(self):
        self.refused(run("--device", "random"), "Expected one of cpu, cuda", "random")
        self.refused(run("--device", "cuda0"), "Invalid device string: 'cuda0'")
        self.refused(run("--device", "cuda:999"), "cuda:999", "available: cpu")

    def test_names_what_is_missing(self):
        self.refused(run("--model", self.folder / "none"), self.folder / "none")
        self.refused(run("--input", self.folder / "none"), self.folder / "none")
        model = self.broken_model()
        (model / "vocab.txt").unlink()
        self.refused(run("--model", model), "vocab.txt")

    def test_refuses_broken_weights(self):
        model = self.broken_model()
        whole = (MODEL / "model.safetensors").read_bytes()
        for size in [0, 7, 8, 5000, len(whole) // 2, len(whole) - 1]:
            self.replace(model, "model.safetensors", whole[:size])
            self.refused(run("--model", model), "model.safetensors")
        self.replace(model, "model.safetensors", b"\xff" * 8 + whole[8:])
        self.refused(run("--model", model), "model.safetensors")
        (length,) = struct.unpack("<Q", whole[:8])
        renamed = whole[: 8 + length].replace(b"layer.5.output.dense.bias", b"layer.5.output.dense.base")
        self.replace(model, "model.safetensors", renamed + whole[8 + length :])
        self.refused(
            run("--model", model),
            "missing: encoder.layer.5.output.dense.bias",
            "unexpected: 'encoder.layer.5.output.dense.base'",
        )

    def test_refuses_tokens_that_the_model_does_not_have(self):
        model = self.broken_model()
        self.replace(model, "vocab.txt", (MODEL / "vocab.txt").read_bytes() + b"one\n")
        self.refused(run("--model", model), "vocab.txt", "30523 tokens")

    def test_refuses_broken_configuration(self):
        model = self.broken_model()
        for content in [b"", b"[]", b'{"hidden_size": -1}', b'{"vocab_size": 1e99}']:
            self.replace(model, "config.json", content)
            self.refused(run("--model", model), "config.json")
        config = json.loads((MODEL / "config.json").read_text())
        for key, value in [("layer_norm_eps", -1), ("layer_norm_eps", 1e300), ("vocab_size", 2**64 - 1)]:
            self.replace(model, "config.json", json.dumps(config | {key: value}).encode())
            self.refused(run("--model", model), "config.json", key)
        self.replace(model, "config.json", json.dumps(config).encode())
        self.replace(model, "sentence_bert_config.json", b'{"max_seq_length": 1}')
        self.refused(run("--model", model), "sentence_bert_config.json", "max_seq_length")

    def test_says_what_cannot_be_written(self):
        self.refused(run("--count", 1, "--output", self.folder / "none" / "x.npy"), "x.npy")
        if Path("/dev/full").exists():
            self.refused(run("--count", 1, "--output", "/dev/full"), "/dev/full")
            with open("/dev/full", "wb") as full:
                result = subprocess.run([PROGRAM, "--count", "1"], stdout=full, stderr=subprocess.PIPE, timeout=120)
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"standard output", result.stderr)

    def test_leaves_no_part_of_a_file(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        output = self.folder / "x.npy"
        self.refused(run("--count", 4, "--output", output, preexec_fn=small_files), output)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_writes_embeddings_in_order(self):
        texts = self.folder / "texts.txt"
        texts.write_bytes(b"one\n\nthree \xff\xfe\nvier f\xc3\xbcnf")
        output = self.folder / "x.npy"
        result = run("--input", texts, "--output", output, "--request-size", 3)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")  # not a terminal: no bar
        self.assertIn(b"4 texts in ", result.stdout)
        self.assertIn(b" texts/s", result.stdout)
        shape, together = read_npy(output)
        self.assertEqual(shape, (4, 384))
        for i, text in enumerate(texts.read_bytes().split(b"\n")):
            texts_one = self.folder / "one.txt"
            texts_one.write_bytes(text + b"\n")
            self.assertEqual(run("--input", texts_one, "--output", output).returncode, 0)
            alone = struct.unpack("<384f", read_npy(output)[1])
            row = struct.unpack("<384f", together[i * 1536 : (i + 1) * 1536])
            self.assertLess(max(abs(a - b) for a, b in zip(alone, row)), 1e-6)

    def test_bits_do_not_depend_on_threads(self):
        texts = self.folder / "texts.txt"
        texts.write_text("".join("word " * (i * 7 % 30) + f"text {i}\n" for i in range(12)))
        results = []
        for threads in ["1", "2"]:
            output = self.folder / f"{threads}.npy"
            environment = os.environ | {"OMP_NUM_THREADS": threads}
            self.assertEqual(run("--input", texts, "--output", output, env=environment).returncode, 0)
            results.append(output.read_bytes())
        self.assertEqual(results[0], results[1])

    def test_prints_tokens_and_stops(self):
        texts = self.folder / "texts.txt"
        texts.write_bytes(b"Hello, World!\n\ncaf\xe9\n")
        result = run("--input", texts, "--tokens")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, b"101 7592 1010 2088 999 102\n101 102\n101 24689 102\n")

    def test_encodes_an_empty_file_to_no_rows(self):
        texts = self.folder / "texts.txt"
        texts.write_bytes(b"")
        output = self.folder / "x.npy"
        self.assertEqual(run("--input", texts, "--output", output).returncode, 0)
        self.assertEqual(read_npy(output), ((0, 384), b""))

    def test_draws_a_bar_on_a_terminal(self):
        leader, terminal = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, "--count", "8", "--request-size", "4"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=terminal,
            env=os.environ | {"TERM": "xterm"},
        )
        os.close(terminal)
        drawn = b""
        try:
            while part := os.read(leader, 4096):
                drawn += part
        except OSError:  # the terminal's other side is closed
            pass
        os.close(leader)
        self.assertEqual(process.wait(timeout=120), 0)
        self.assertIn("Working... ", drawn.decode())
        self.assertIn("━━━", drawn.decode())
        self.assertIn("step/s 2 steps done in", drawn.decode())


if __name__ == "__main__":
    if not (MODEL / "model.safetensors").exists():
        print(f"no model in {MODEL}: scripts/fetch_model gets it")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
