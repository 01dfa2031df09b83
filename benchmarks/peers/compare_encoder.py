# SPDX-License-Identifier: Apache-2.0
"""Compares topos' sentence encoder with sentence-transformers, ONNX Runtime and OpenVINO; encoder_options.py says how."""
import contextlib
import json
import os
import pathlib
import sys
import time

import encoder_checks
from encoder_files import encoder_files
from encoder_options import parse
from report import distinct_cores, report
from topos_program import program_failed, topos_program
from worker import worker, worker_failed

HERE = pathlib.Path(__file__).resolve().parent
SEED_TEXT = "Using a GPU allows you to significantly speed up encoding."
PEERS = {
    "sentence-transformers": "sentence_transformers_peer.py",
    "ONNX Runtime": "onnxruntime_peer.py",
    "OpenVINO": "openvino_peer.py",
}
# Long enough for every library's threads to stop spinning for work.
SETTLE_SECONDS = 0.3
TUNING_SAMPLE = 320


def say(message):
    print(f"compare: {message}", file=sys.stderr, flush=True)


def prepare(title, texts, orders, peers):
    """{(peer, order): variant}: what each peer is to run; the first order chooses a peer's variant for all."""
    variants = {}
    for order in orders:
        for name, peer in peers.items():
            # sentence-transformers has one order, its own.
            if order != orders[0] and len(peer.greeting["variants"]) == 1:
                continue
            tuned = peer.ask(
                "prepare", texts=texts, order=order, sample=TUNING_SAMPLE, variant=variants.get((name, orders[0]))
            )
            variants[name, order] = tuned["variant"]
            if len(tuned["trials"]) > 1:
                rates = ", ".join(f"{key}: {rate:.0f}" for key, rate in tuned["trials"].items())
                say(f"{title}: {name} is fastest as '{tuned['variant']}' ({rates})")
    return variants


def compare(title, program_arguments, texts, orders, count, ours, peers, rounds):
    """({side: rates over the rounds}, {side: variant}). orders: how the peers are fed, by the first in every round,
    by others in the first round alone."""
    variants = prepare(title, texts, orders, peers)
    names = {key: label(key[0], peers[key[0]], key[1], orders) for key in variants}
    # The second is what a user waits for, start and loading included; the peers' rates leave that out.
    sides = {"topos": [], "topos, the whole process": [], **{side: [] for side in names.values()}}
    for turn in range(rounds):
        time.sleep(SETTLE_SECONDS)
        run = ours.run(*program_arguments)
        sides["topos"].append(run.texts_per_second(count))
        sides["topos, the whole process"].append(count / run.seconds)
        for (name, order), variant in variants.items():
            if order != orders[0] and turn > 0:
                continue
            time.sleep(SETTLE_SECONDS)
            reply = peers[name].ask("encode", texts=texts, order=order, variant=variant)
            sides[names[name, order]].append(reply["texts_per_second"])
        rates = ", ".join(f"{side} {rates[-1]:.0f}" for side, rates in sides.items() if len(rates) > turn)
        say(f"{title}: round {turn + 1} of {rounds}: {rates}")
    return sides, {names[key]: variant for key, variant in variants.items()}


def label(name, peer, order, orders):
    if len(orders) == 1 or len(peer.greeting["variants"]) == 1:
        return name
    return f"{name}, " + ("sorted by length" if order == "length" else "in the order of the input")


def measure_speed(result, files, ours, peers, options):
    for peer in peers.values():
        peer.ask("texts", name="seed", text=SEED_TEXT, count=options.count)
        peer.ask("texts", name="mixed", path=str(files.mixed()))
    workloads = [
        (f"the seed's text, {options.count:,} times", "seed", ["input"], options.count,
         ["--request-size", 32, "--count", options.count], 2.8, 1.05),
        (files.describe_mixed(), "mixed", ["length", "input"], files.mixed_count(),
         ["--request-size", 32, "--input", files.mixed()], 3.5, 1.4),
    ]
    for title, texts, orders, count, arguments, over_first, over_graphs in workloads:
        sides, variants = compare(title, arguments, texts, orders, count, ours, peers, options.rounds)
        first, *graphs = peers
        result.workload(title, sides, [
            ("topos", [first], over_first),
            ("topos", [label(name, peers[name], orders[0], orders) for name in graphs], over_graphs),
        ])
        result.data["workloads"][-1]["variants"] = variants
    encoder_checks.check_start(result, files, ours)


def main():
    options = parse(sys.argv[1:])
    if not (options.model / "model.safetensors").is_file():
        say(f"{options.model} holds no model.safetensors")
        return 2
    # Every side gets the same CPUs; children inherit them.
    cpus = distinct_cores(options.threads)
    if len(cpus) < options.threads:
        say(f"only {len(cpus)} CPUs for {options.threads} threads")
    os.sched_setaffinity(0, cpus)
    load = os.getloadavg()[0]
    if load > 0.5 and not options.check:
        say(f"the machine is busy (load average {load:.1f}): rates will be low and uneven")
    result = report({"threads": options.threads, "rounds": options.rounds, "count": options.count})
    result.data["load_average_before"] = load
    ours = topos_program(options.program, options.model, options.threads)
    try:
        files = encoder_files(options, say)
        with contextlib.ExitStack() as workers:
            peers = {}
            for name, script in PEERS.items():
                say(f"loading {name}")
                log = options.peers_dir / f"{pathlib.Path(script).stem}.log"
                peers[name] = workers.enter_context(
                    worker(name, HERE / script, [options.model, files.exports(), options.threads], options.threads, log))
                result.data["versions"].update(peers[name].versions)
            if not options.speed:
                encoder_checks.check_results(result, files, ours, peers, say)
            if not options.check:
                measure_speed(result, files, ours, peers, options)
        encoder_checks.check_memory(result, ours)
    except (program_failed, worker_failed, encoder_checks.could_not_run, OSError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(result.text())
    if options.json:
        options.json.write_text(json.dumps(result.data, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return 0 if result.all_met else 1


if __name__ == "__main__":
    sys.exit(main())
