# SPDX-License-Identifier: Apache-2.0
"""Compares topos' batcher with Ray Serve and Jina; executor_options.py says how."""
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import sys
import time

from array_report import as_time
from benchmark_programs import benchmark_failed, benchmark_programs
from executor_options import parse
from report import distinct_cores, machine
from worker import worker, worker_failed

HERE = pathlib.Path(__file__).resolve().parent
TOPOS = "topos"
PEERS = {"Ray Serve": "ray_serve", "Jina": "jina"}
# Long enough for every library's threads to stop spinning for work.
SETTLE_SECONDS = 0.5
SECONDS = 0.5


@dataclasses.dataclass(frozen=True)
class row:
    text: str
    benchmark: str  # topos' own, whose items_per_second counts
    workload: str
    count: int
    lone: bool = False


ROWS = [
    row("a model that does nothing, in batches of up to 32", "executor/noop/topos/cpu/32", "noop", 2000),
    row("a model that does nothing, one item at a time", "executor/lone/topos/cpu/1", "noop", 200, lone=True),
    row("the sentence encoder, in batches of up to 32", "executor/encode/topos/cpu/32", "encode", 640),
]


def say(message):
    print(f"compare: {message}", file=sys.stderr, flush=True)


def start_peers(options, result, workers):
    peers = {}
    for name, key in PEERS.items():
        folder = options.peers_dir / key
        if not (folder / "installed.txt").exists():
            log = folder.with_suffix(".log")
            words = log.read_text("utf-8", errors="replace").strip().splitlines() if log.exists() else []
            result["left_out"].append(f"{name}: it could not be installed: {words[-1] if words else 'no reason is known'}")
            continue
        say(f"starting {name}")
        peers[name] = workers.enter_context(
            worker(name, HERE / f"{key}_peer.py", [options.model, options.threads], options.threads,
                   options.peers_dir / f"{key}_peer.log", python=folder / "bin" / "python"))
        result["versions"].update(peers[name].versions)
        workers.callback(peers[name].ask, "close")
    return peers


def measure(programs, peers, options, result):
    times = {row: {side: [] for side in [TOPOS, *peers]} for row in ROWS}
    for turn in range(options.rounds):
        for row in ROWS:
            time.sleep(SETTLE_SECONDS)
            times[row][TOPOS].append(1 / programs.measure(row.benchmark, SECONDS)[1]["items_per_second"])
            for name, peer in peers.items():
                time.sleep(SETTLE_SECONDS)
                reply = peer.ask("measure", workload=row.workload, count=row.count,
                                 in_flight=1 if row.lone else options.in_flight)
                times[row][name].append(reply["seconds"])
            say(f"round {turn + 1} of {options.rounds}: {row.text}")
    for row, sides in times.items():
        result["rows"].append({"text": row.text, "seconds_per_item": sides,
                               "least": {side: min(seconds) for side, seconds in sides.items()}})


def text_of(result):
    lines = [
        f"{result['machine']['cpu']}, {result['options']['threads']} threads, {result['date']}",
        ", ".join(f"{name} {version}" for name, version in result["versions"].items()),
    ]
    for row in result["rows"]:
        lines += ["", f"{row['text']}, time per item"]
        for side, seconds in row["least"].items():
            ratio = "" if side == TOPOS else f"{seconds / row['least'][TOPOS]:9.1f} x"
            lines.append(f"  {side:10}  {as_time(seconds):>9}{ratio}")
    return "\n".join(lines + [""] * bool(result["left_out"]) + [f"left out: {what}" for what in result["left_out"]])


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
    if load > 0.5:
        say(f"the machine is busy (load average {load:.1f}): times will be long and uneven")
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(), "load_average_before": load, "versions": {}, "rows": [], "left_out": [],
        "options": {"threads": options.threads, "rounds": options.rounds, "in_flight": options.in_flight},
    }
    try:
        programs = benchmark_programs(options.programs, options.threads)
        for row in ROWS:
            if row.benchmark not in programs:
                raise benchmark_failed(f"there is no benchmark {row.benchmark} in {options.programs}")
        with contextlib.ExitStack() as workers:
            measure(programs, start_peers(options, result, workers), options, result)
    except (benchmark_failed, worker_failed, OSError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(text_of(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
