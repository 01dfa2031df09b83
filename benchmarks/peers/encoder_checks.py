# SPDX-License-Identifier: Apache-2.0
"""The encoder's results against its peers', and what it needs of time and memory to start."""
import pathlib
import statistics
import tempfile

import numpy

from encoder_files import REFERENCE, could_not_run, run_python
from topos_program import program_failed

LARGEST_DIFFERENCE = 2e-6
# Between two peers: what shows that they compute the same thing at the same precision.
LARGEST_DIFFERENCE_OF_PEERS = 1e-5
# The peers need no more than a sample to show it.
PEERS_CHECK_EVERY = 8
LARGEST_PEAK = 260e6
LONGEST_START_SECONDS = 0.5

__all__ = ["check_memory", "check_results", "check_start", "could_not_run"]


def load_embeddings(path, count):
    try:
        found = numpy.load(path)
    except (OSError, ValueError) as error:
        raise program_failed(f"{path} is no .npy file: {error}") from None
    if found.dtype != numpy.float32 or found.ndim != 2 or found.shape[0] != count:
        raise program_failed(f"the program wrote {found.dtype} {found.shape}, not float32 of {count} rows")
    return found


def largest_difference(ours, theirs):
    if ours.shape != theirs.shape:
        raise program_failed(f"embeddings of shape {ours.shape} cannot be those of shape {theirs.shape}")
    if not ours.size:
        return 0.0
    # In f64, and a value that is no number counts as the largest of all.
    return float(numpy.nan_to_num(numpy.abs(ours.astype(numpy.float64) - theirs), nan=numpy.inf).max())


def check_results(result, files, ours, peers, say):
    texts, count = files.mixed(), files.mixed_count()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        say("comparing embeddings")
        arguments = ["--request-size", 32, "--input", texts, "--output"]
        ours.run(*arguments, folder / "topos.npy")
        found = load_embeddings(folder / "topos.npy", count)
        (first, model), *others = peers.items()
        output = folder / "peer.npy"
        model.ask("texts", name="check", path=str(texts))
        model.ask("encode", texts="check", order="input", variant=model.greeting["variants"][0], output=str(output))
        reference = numpy.load(output)
        difference = largest_difference(found, reference)
        result.check(f"largest difference of a component from {first} over {count:,} texts",
                     difference, "", difference < LARGEST_DIFFERENCE, f"< {LARGEST_DIFFERENCE}")
        exact_output = folder / "exact.npy"
        model.ask("encode", texts="check", order="input", variant="float64", output=str(exact_output))
        exact = numpy.load(exact_output)
        for side, embeddings in (("topos", found), (first, reference)):
            result.figure(f"largest distance of a component of {side} from float64",
                          largest_difference(embeddings, exact))
        for name, peer in others:
            peer.ask("texts", name="check", path=str(texts), every=PEERS_CHECK_EVERY)
            for variant in peer.greeting["variants"]:
                peer.ask("encode", texts="check", order="length", variant=variant, output=str(output))
                difference = largest_difference(numpy.load(output), reference[::PEERS_CHECK_EVERY])
                if difference >= LARGEST_DIFFERENCE_OF_PEERS:
                    raise could_not_run(f"{name} ({variant}) differs from {first} by {difference:.2g}: "
                                        "the peers do not compute the same")

        say("comparing token ids")
        check_tokens(result, files, ours, folder)

        say("comparing 1 and 2 threads")
        outputs = [folder / "one.npy", folder / "two.npy"]
        for threads, output in zip((1, 2), outputs):
            ours.run(*arguments, output, threads=threads)
        one, two = (load_embeddings(output, count) for output in outputs)
        differing = int((one.view(numpy.uint32) != two.view(numpy.uint32)).any(axis=1).sum())
        result.check(f"embeddings of {count:,} that differ in any bit between 1 and 2 threads",
                     differing, "", differing == 0, "0")


def check_tokens(result, files, ours, folder):
    lines = files.lines_for_tokens()
    run_python(REFERENCE / "tokens.py", "--model", files.options.model, "--input", lines,
               "--output", folder / "expected.txt")
    ours.run("--tokens", "--input", lines, stdout=folder / "found.txt")
    expected = (folder / "expected.txt").read_bytes().splitlines()
    found = (folder / "found.txt").read_bytes().splitlines()
    differing = [i for i, (a, b) in enumerate(zip(expected, found)) if a.split() != b.split()]
    missing = abs(len(expected) - len(found))
    wrong = len(differing) + missing
    result.check(f"lines of {len(expected):,} whose token ids differ from the model's own tokenizer's",
                 wrong, f" (the first: line {differing[0] + 1} of {lines})" if differing else "",
                 wrong == 0, "0")


def check_start(result, files, ours):
    """Wall time of the whole program on one text, the model's file in the page cache."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--input", files.one_text(), "--output", pathlib.Path(folder, "one.npy")]
        ours.run(*arguments)
        seconds = statistics.median(ours.run(*arguments).seconds for _ in range(5))
    result.check("start to first embedding, the whole program on one text, median of 5",
                 round(seconds, 3), " s", seconds < LONGEST_START_SECONDS, f"< {LONGEST_START_SECONDS} s")


def check_memory(result, ours):
    result.check("peak resident memory, the largest of all runs", round(ours.peak_bytes / 1e6, 1), " MB",
                 ours.peak_bytes < LARGEST_PEAK, f"< {LARGEST_PEAK / 1e6:.0f} MB")
