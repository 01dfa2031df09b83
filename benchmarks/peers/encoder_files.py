# SPDX-License-Identifier: Apache-2.0
"""The texts and exported models of a comparison of encoders, made once and kept."""
import hashlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "scripts" / "reference"
sys.path.insert(0, str(REFERENCE))  # for its tokens.py


class could_not_run(Exception):
    """Something besides the compared programs failed."""


def run_python(script, *arguments):
    """Runs a script of the project. Raises could_not_run with its last words."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(os.environ, HF_HUB_OFFLINE="1"),
    )
    if done.returncode != 0:
        words = done.stdout.decode("utf-8", errors="replace")[-2000:]
        raise could_not_run(f"{script} ended with {done.returncode}:\n{words}")


def digest(*paths):
    """Names what was made from these files, so that a change of one makes it anew."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:12]


class encoder_files:
    def __init__(self, options, say):
        self.options, self.say = options, say
        self.folder = options.peers_dir
        self.lengths = None

    def exports(self):
        """The folder of the exported models."""
        script = pathlib.Path(__file__).with_name("export_onnx.py")
        pins = pathlib.Path(__file__).with_name("requirements.txt")
        name = digest(script, pins, self.options.model / "model.safetensors")
        final = self.folder / "exports" / name
        if not final.is_dir():
            self.say("exporting the model (once)")
            final.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=final.parent) as made:
                run_python(script, self.options.model, made)
                pathlib.Path(made).chmod(0o755)
                # Complete or not there at all.
                pathlib.Path(made).rename(final)
                pathlib.Path(made).mkdir()
        return final

    def mixed(self):
        """Texts of mixed length."""
        return self.options.texts or self.made(2000, seed=1)

    def lines_for_tokens(self):
        return self.options.token_texts or self.made(100000, seed=2)

    def one_text(self):
        path = self.folder / "texts" / "one.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Using a GPU allows you to significantly speed up encoding.\n", "utf-8")
        return path

    def made(self, count, seed):
        script = REFERENCE / "texts.py"
        name = digest(script, self.options.model / "vocab.txt")
        final = self.folder / "texts" / f"{count}-{seed}-{name}.txt"
        if not final.exists():
            self.say(f"making {count:,} texts (once)")
            final.parent.mkdir(parents=True, exist_ok=True)
            part = final.with_suffix(".part")
            run_python(
                script, "--count", count, "--seed", seed, "--model", self.options.model, "--output", part
            )
            part.rename(final)
        return final

    def mixed_lengths(self):
        """Tokens of each text of mixed()."""
        if self.lengths is None:
            from batches import load_tokenizer
            from tokens import read_texts

            tokenizer = load_tokenizer(self.options.model)
            encodings = tokenizer.encode_batch_fast(read_texts(self.mixed()))
            self.lengths = [len(encoding.ids) for encoding in encodings]
        return self.lengths

    def mixed_count(self):
        return len(self.mixed_lengths())

    def describe_mixed(self):
        lengths = self.mixed_lengths()
        return (
            f"{len(lengths):,} texts of mixed length"
            f" (mean {statistics.mean(lengths):.0f} tokens, up to {max(lengths)})"
        )
