# SPDX-License-Identifier: Apache-2.0
"""What the comparison of arrays found: the times of all sides, topos' ratios to them and the targets, as text and JSON."""
import datetime

from array_rows import TOPOS
from report import machine, verdict


class array_report:
    def __init__(self, options):
        self.data = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": machine(),
            "options": options,
            "versions": {},
            "rows": [],
            "left_out": [],
        }

    @property
    def all_met(self):
        return all(target["met"] for row in self.data["rows"] for target in row["targets"])

    def leave_out(self, what, why):
        self.data["left_out"].append({"what": what, "why": why})

    def row(self, row, times, counters):
        """times: {side: seconds over the rounds}; counters: those of topos' benchmark."""
        on_cpu = self.data["options"]["device"] == "cpu"
        least = {side: min(seconds) for side, seconds in times.items()}
        targets = []
        if TOPOS in least:
            for sides, factor in row.ratios if on_cpu else row.ratios_on_gpu:
                there = [side for side in sides if side in least]
                if there:
                    best = min(there, key=least.get)
                    ratio = least[best] / least[TOPOS]
                    targets.append({"over": best, "value": ratio, "target": factor, "met": ratio >= factor,
                                    "text": f"{ratio:.2f} x {best}, target {factor:.3g} x"})
            if on_cpu and row.at_most is not None:
                targets.append({"value": least[TOPOS], "target": row.at_most, "met": least[TOPOS] <= row.at_most,
                                "text": f"{as_time(least[TOPOS])}, target {as_time(row.at_most)}"})
            if row.counter:
                name, most, what = row.counter
                value = counters.get(name)
                targets.append({"value": value, "target": most, "met": value is not None and value <= most,
                                "text": f"{what}: {0 if value is None else value / 1e6:.1f} MB, at most {most / 1e6:.1f} MB"})
        self.data["rows"].append({"name": row.name, "size": row.size, "text": row.text, "seconds": times,
                                  "least": least, "targets": targets})

    def head(self):
        data = self.data
        options = data["options"]
        return "\n".join([
            f"{data['machine']['cpu']}, {options['threads']} threads, {options['device']}, {data['date']}",
            ", ".join(f"{name} {version}" for name, version in data["versions"].items()),
        ])

    def last_row(self):
        row = self.data["rows"][-1]
        lines = ["", f"{row['name']}/{row['size']}: {row['text']}"]
        width = max(map(len, row["least"]))
        ours = row["least"].get(TOPOS)
        for side, seconds in row["least"].items():
            ratio = f"{seconds / ours:9.2f} x" if ours and side != TOPOS else ""
            lines.append(f"  {side:{width}}  {as_time(seconds):>9}{ratio}".rstrip())
        lines += [f"  {target['text']}: {verdict(target)}" for target in row["targets"]]
        return "\n".join(lines)

    def tail(self):
        return "\n".join(["", *(f"left out: {item['what']}: {item['why']}" for item in self.data["left_out"])])


def as_time(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
