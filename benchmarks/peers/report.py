# SPDX-License-Identifier: Apache-2.0
"""What a comparison found: rates per side, ratios and checks against their targets, as text and as JSON."""
import datetime
import os
import platform
import statistics


def machine():
    """What a reader must know of the machine; nothing that names it."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in open("/proc/cpuinfo", encoding="utf-8", errors="replace")
            if line.startswith("model name")
        ),
        platform.processor() or platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": cpu,
        "cpus": os.cpu_count(),
        "memory_bytes": memory,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def distinct_cores(count):
    """The numbers of `count` CPUs, one of each core before the second of any."""
    allowed = sorted(os.sched_getaffinity(0))
    first, rest, seen = [], [], set()
    for cpu in allowed:
        try:
            path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
            siblings = open(path, encoding="ascii").read()
        except OSError:
            siblings = str(cpu)
        (rest if siblings in seen else first).append(cpu)
        seen.add(siblings)
    return (first + rest)[:count]


class report:
    def __init__(self, options):
        self.data = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": machine(),
            "options": options,
            "versions": {},
            "workloads": [],
            "checks": [],
            "figures": [],
        }

    @property
    def all_met(self):
        ratios = [ratio for work in self.data["workloads"] for ratio in work["ratios"]]
        return all(item["met"] for item in self.data["checks"] + ratios)

    def check(self, what, value, unit, met, target):
        """One figure with its target, already judged."""
        self.data["checks"].append(
            {"what": what, "value": value, "unit": unit, "target": target, "met": bool(met)}
        )

    def figure(self, what, value):
        """A number to know, without a target."""
        self.data["figures"].append({"what": what, "value": value})

    def workload(self, name, sides, ratios):
        """sides: {side: rates}, in the order to print; ratios: [(our side, {name: other sides}, target)].

        A ratio is to the fastest of the other sides, and is judged by the medians.
        """
        table = {
            side: {
                "median": statistics.median(rates),
                "best": max(rates),
                "texts_per_second": list(rates),
            }
            for side, rates in sides.items()
        }
        found = []
        for ours, others, target in ratios:
            ratio = {
                kind: table[ours][kind] / max(table[other][kind] for other in others)
                for kind in ("median", "best")
            }
            met = ratio["median"] >= target
            found.append({"over": others, **ratio, "target": target, "met": met})
        self.data["workloads"].append({"name": name, "sides": table, "ratios": found})

    def text(self):
        data = self.data
        lines = [
            f"{data['machine']['cpu']}, {data['options']['threads']} threads, {data['date']}",
            ", ".join(f"{name} {version}" for name, version in data["versions"].items()),
        ]
        for work in data["workloads"]:
            width = max(map(len, work["sides"]))
            lines += ["", work["name"], f"  {'texts/s':{width}}    median      best  rounds"]
            for side, rates in work["sides"].items():
                lines.append(
                    f"  {side:{width}}  {rates['median']:8.1f}  {rates['best']:8.1f}"
                    f"  {len(rates['texts_per_second']):6}"
                )
            for ratio in work["ratios"]:
                over = " or ".join(ratio["over"])
                over = f"the better of {over}" if len(ratio["over"]) > 1 else over
                lines.append(
                    f"  topos is {ratio['median']:.2f} x {over} (best rounds: {ratio['best']:.2f} x);"
                    f" target {ratio['target']} x: {verdict(ratio)}"
                )
        if data["checks"]:
            lines.append("")
        for item in data["checks"]:
            value = f"{item['value']:.3g}" if isinstance(item["value"], float) else item["value"]
            lines.append(
                f"{item['what']}: {value}{item['unit']}; target {item['target']}: {verdict(item)}"
            )
        lines += [f"{item['what']}: {item['value']:.3g}" for item in data["figures"]]
        return "\n".join(line for index, line in enumerate(lines) if line or index > 1)


def verdict(item):
    return "met" if item["met"] else "MISSED"
