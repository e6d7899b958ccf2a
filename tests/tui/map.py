#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""map.py MPROF_TUI SESSION: goes through time in memory, and compares each cell of the map with the blocks that
are live at that moment by SQL. Prints each difference; exit status 1 if there is one."""
import collections
import re
import sqlite3
import subprocess
import sys

browser, path = sys.argv[1:]
database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
duration = int(database.execute("SELECT value FROM meta WHERE key = 'duration_ns'").fetchone()[0])
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
steps = range(20, 200, 20)
with open("map.keys", "w") as script:
    script.write("key 2 Home 3\n")
    for step in steps:
        script.write("key" + " ]" * 20 + f"\ndump {step}\n")
screens = subprocess.run([browser, "--script", "map.keys", "--size", "80x40", path], capture_output=True, text=True,
                         check=True).stdout
cells = used_cells = differences = 0
for screen in re.split(r"^== (?=\d+ )", screens, flags=re.M)[1:]:
    moment = min(int(screen.split()[0]) * max(duration // 200, 1), duration - 1)
    number, unit = re.search(r"· ([\d.]+) (\w+) a cell", screen).groups()
    size = int(float(number) * UNITS[unit])
    blocks = database.execute("""SELECT address, size FROM allocation WHERE arena_id = 0 AND alloc_ns <= ?
        AND (free_ns IS NULL OR free_ns > ?)""", (moment, moment)).fetchall()
    used = collections.Counter()
    for address, length in blocks:
        at, end = address, address + length
        while at < end:
            border = min(end, (at // size + 1) * size)
            used[at // size] += border - at
            at = border
    for line in screen.splitlines()[3:]:
        region = re.match(r" ([0-9a-f]+) – ([0-9a-f]+)  .*in use by ([\d,]+)", line)
        row = re.match(r" ([0-9a-f]{8,12}) (.{8,64})", line)
        if region:
            low, high = int(region[1], 16), int(region[2], 16)
            if sum(low <= address < high for address, _ in blocks) != int(region[3].replace(",", "")):
                differences += 1
                print(f"{moment} ns: {line}")
        elif row and int(row[1], 16) % size == 0:
            for column, glyph in enumerate(row[2]):
                live = used[int(row[1], 16) // size + column]
                level = "·" if live == 0 else chr(0x2580 + (7 if live >= size else 1 + int(live / size * 6)))
                cells += 1
                used_cells += live > 0
                if glyph not in (level, "●") and not (glyph == " " and live == 0):
                    differences += 1
                    print(f"{moment} ns, {row[1]} + {column}: {glyph}, of {size} bytes SQL has {live}")
if used_cells < 20:
    sys.exit(f"only {used_cells} of {cells} cells are in use")
print(f"{cells} cells at {len(steps)} moments, {used_cells} in use")
sys.exit(1 if differences else 0)
