# SPDX-License-Identifier: Apache-2.0
"""Runs one command and reports its wall time and peak resident memory.

    python -I -S measured_run.py REPORT.json COMMAND [ARGUMENT...]

A process of its own, and a small one: the kernel counts the memory of the process that starts a command as the
command's peak, so that a starter of hundreds of megabytes would hide what the command needs.
"""
import json
import os
import sys
import time


def main():
    report, command = sys.argv[1], sys.argv[2:]
    start = time.perf_counter()
    try:
        child = os.posix_spawn(command[0], command, os.environ)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    with open(report, "w", encoding="ascii") as out:
        # Linux gives the peak in KiB.
        json.dump({"seconds": seconds, "peak_bytes": usage.ru_maxrss * 1024}, out)
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
