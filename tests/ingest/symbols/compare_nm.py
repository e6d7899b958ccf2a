# SPDX-License-Identifier: BSD-2-Clause
"""compare_nm.py SYMBOLIZE BINARY [--dynamic]: checks names by symbol alone. It asks for
the first and last byte of every function of nm -C (-D with --dynamic) that has a size. The answer
must be one of the names that nm has for that address."""

import re
import subprocess
import sys

symbolize, binary = sys.argv[1:3]


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def overlapping(intervals):
    """True if two with different starts overlap."""
    ordered = sorted(set(intervals))
    return any(b[0] < a[1] and a[0] != b[0] for a, b in zip(ordered, ordered[1:]))


def main():
    kind = ["-D"] if "--dynamic" in sys.argv else []
    names, nested = {}, []
    for line in run("nm", "-C", "-S", "--defined-only", "--without-symbol-versions", *kind,
                    binary).splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) ([tTwWi]) (.*)", line)
        if match:
            start, size = int(match[1], 16), int(match[2], 16)
            names.setdefault(start, set()).add(match[4])
            nested.append((start, start + size))
    if len(names) < 20:
        print(f"{binary}: only {len(names)} functions: the comparison says nothing")
        return 1
    asked = []
    for start, end in nested:
        asked.append((start, start))
        # The last byte belongs to the innermost function that covers it.
        inner = max(a for a, b in nested if a < end <= b) if overlapping(nested) else start
        asked.append((end - 1, inner))
    output = run(symbolize, binary, text="".join(f"{at:#x}\n" for at, _ in asked)).splitlines()
    bad = 0
    for (at, start), name in zip(asked, output[1::3]):
        if name not in names[start]:
            bad += 1
            print(f"{binary} {at:#x}: {name}, not one of {sorted(names[start])}")
    print(f"{binary}: {len(asked)} addresses, {bad} wrong")
    return 1 if bad else 0


sys.exit(main())
