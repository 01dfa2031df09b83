# SPDX-License-Identifier: Apache-2.0
"""Compares topos' array core with JAX, PyTorch, xtensor and a bare loop; array_options.py says how."""
import contextlib
import json
import os
import pathlib
import sys
import time

from array_options import parse
from array_report import array_report
from array_rows import BENCHMARK_SIDES, LOOP, ROWS, TOPOS, XTENSOR
from benchmark_programs import benchmark_failed, benchmark_programs
from report import distinct_cores
from worker import worker, worker_failed

HERE = pathlib.Path(__file__).resolve().parent
PEERS = {"JAX": "jax_peer.py", "PyTorch": "torch_peer.py"}
# Long enough for every library's threads to stop spinning for work.
SETTLE_SECONDS = 0.3


def say(message):
    print(f"compare: {message}", file=sys.stderr, flush=True)


def sides_of(row, programs, peers, device):
    """{side: function of seconds that gives (seconds of one call, counters)}, topos first."""
    sides = {}
    for side in BENCHMARK_SIDES:
        name = row.benchmark(side, device)
        if name in programs:
            sides[side] = lambda seconds, name=name: programs.measure(name, seconds)
    for peer in peers.values():
        if row.key in peer.greeting["workloads"]:
            for variant in peer.greeting["variants"]:
                sides[variant] = lambda seconds, peer=peer, variant=variant: (
                    peer.ask("measure", workload=row.key, variant=variant, seconds=seconds)["seconds"], {})
    return sides


def measure(rows, programs, peers, options, result):
    everyone = {row: sides_of(row, programs, peers, options.device) for row in rows}
    times = {row: {side: [] for side in sides} for row, sides in everyone.items()}
    counters = {}
    for turn in range(options.rounds):
        for row, sides in everyone.items():
            for side, run in sides.items():
                time.sleep(SETTLE_SECONDS)
                seconds, found = run(options.seconds)
                times[row][side].append(seconds)
                if side == TOPOS:
                    counters[row] = found
            say(f"round {turn + 1} of {options.rounds}: {row.key}")
            if turn + 1 < options.rounds:
                continue
            if TOPOS not in sides:
                result.leave_out(row.key, "topos has no benchmark of it")
            # At once: a run of minutes may be ended before its end.
            if sides:
                result.row(row, times[row], counters.get(row, {}))
                print(result.last_row(), flush=True)


def main():
    options = parse(sys.argv[1:])
    rows = [row for row in ROWS if options.rows.search(row.key)]
    if not rows:
        say(f"no row is named like {options.rows.pattern!r}; there is: {', '.join(row.key for row in ROWS)}")
        return 2
    # Every side gets the same CPUs; children inherit them.
    cpus = distinct_cores(options.threads)
    if len(cpus) < options.threads:
        say(f"only {len(cpus)} CPUs for {options.threads} threads")
    os.sched_setaffinity(0, cpus)
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"the machine is busy (load average {load:.1f}): times will be long and uneven")
    result = array_report({name: getattr(options, name) for name in ("device", "threads", "rounds", "seconds")})
    result.data["load_average_before"] = load
    try:
        programs = benchmark_programs(options.programs, options.threads)
        for side in (LOOP, XTENSOR) if options.device == "cpu" else ():
            if not any(row.benchmark(side, options.device) in programs for row in ROWS):
                result.leave_out(side, "its program was not built; cmake says what it needs")
        with contextlib.ExitStack() as workers:
            peers = {}
            for name, script in PEERS.items():
                say(f"loading {name}")
                log = options.peers_dir / f"{pathlib.Path(script).stem}.log"
                peers[name] = workers.enter_context(
                    worker(name, HERE / script, [options.threads, options.device], options.threads, log))
                result.data["versions"].update(peers[name].versions)
            print(result.head(), flush=True)
            measure(rows, programs, peers, options, result)
    except (benchmark_failed, worker_failed, OSError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if result.data["left_out"]:
        print(result.tail())
    if options.json:
        options.json.write_text(json.dumps(result.data, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return 0 if result.all_met else 1


if __name__ == "__main__":
    sys.exit(main())
