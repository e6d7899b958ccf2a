#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""layers.py SESSION SLOTS.csv live|rate|net NAME CONDITION: compares the layers of the timeline with sums by
SQL. NAME is the SQL text of a layer's name, CONDITION chooses the blocks; a is allocation, t type, k kind, r thread."""
import collections
import csv
import sqlite3
import sys

path, slots, mode, name, condition = sys.argv[1:]
database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
selected = int(dict(database.execute("SELECT key, value FROM meta")).get("selected_process") or 0)
layers = {}
for layer, size, born, freed in database.execute(f"""SELECT {name}, a.size, a.alloc_ns, a.free_ns FROM allocation a
        LEFT JOIN type t ON t.id = a.type_id JOIN kind k ON k.id = a.kind JOIN thread r ON r.id = a.thread_id
        WHERE a.arena_id = 0 AND ({selected} = 0 OR r.process_id = {selected}) AND ({condition})"""):
    layers.setdefault(layer, []).append((size, born, freed))
rows = list(csv.DictReader(open(slots, newline="")))
prefix = {"live": "live_bytes: ", "rate": "allocations: ", "net": "net_bytes: "}[mode]
named = [column[len(prefix):] for column in rows[0] if column.startswith(prefix)]
if len(named) < 2 or set(named) - {"rest"} - set(layers) or (len(layers) > 10) != ("rest" in named):
    sys.exit(f"the layers are {named}, not of {sorted(layers)}")


def value(blocks, begin, end):
    if mode == "rate":
        return sum(begin <= born < end for _, born, _ in blocks)
    live = sum(size for size, born, freed in blocks if born < end and (freed is None or freed >= end))
    if mode == "live":
        return live
    return live - sum(size for size, born, freed in blocks if born < begin and (freed is None or freed >= begin))


differences = checked = seen = 0
for row in rows:
    begin, end = int(row["from_ns"]), int(row["to_ns"])
    wanted = collections.Counter()
    for layer, blocks in layers.items():
        wanted[layer if layer in named else "rest"] += value(blocks, begin, end)
    for layer in named:
        checked += 1
        seen += wanted[layer] != 0
        if int(row[prefix + layer]) != wanted[layer]:
            differences += 1
            print(f"{begin}..{end} {layer}: {row[prefix + layer]}, SQL {wanted[layer]}")
if seen == 0:
    sys.exit("all numbers are 0")
print(f"{checked} numbers of {len(named)} layers, {seen} not 0")
sys.exit(1 if differences else 0)
