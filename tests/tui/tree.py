# SPDX-License-Identifier: BSD-2-Clause
"""tree.py MPROF_TUI SESSION: lists the allocations of every row of the tree view on the first screen,
in each of its directions, and compares the rows with SQL on what the list's filter selects. Then
compares every row of the functions view with SQL."""
import csv
import re
import sqlite3
import subprocess
import sys
import tempfile

program, session = sys.argv[1:]
database = sqlite3.connect(f"file:{session}?mode=ro", uri=True)
peak = int(database.execute("SELECT value FROM meta WHERE key = 'peak_ns'").fetchone()[0])
checked = 0


def screens(keys):
    """Runs the keys, with a dump after each line of them; returns the lines of each screen."""
    script = "".join(f"{line}\n" if line.startswith("type ") else f"key {line}\ndump\n"
                     for line in keys)
    out = subprocess.run([program, "--script", "/dev/stdin", "--size", "240x100", session],
                         input=script, capture_output=True, text=True, check=True).stdout
    return [screen.strip("\n").splitlines()[1:]
            for screen in re.split(r"^== .*==$", out, flags=re.M)[1:]]




def written(keys):
    """The rows that :w writes of the view that the keys lead to."""
    with tempfile.TemporaryDirectory() as folder:
        screens([f"{keys} :", f"type w {folder}/tree.csv", "Enter"])
        with open(f"{folder}/tree.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def compare(mode, row, condition):
    """Compares all sums of a row."""
    global checked
    at = "alloc_ns <= {0} AND ifnull(free_ns > {0}, 1)".format(peak)
    found = database.execute(
        f"SELECT ifnull(sum(size) FILTER (WHERE {at}), 0), count(*) FILTER (WHERE {at}),"
        " ifnull(sum(size), 0), count(*), ifnull(sum(size) FILTER (WHERE free_ns IS NULL), 0),"
        " count(*) FILTER (WHERE free_ns IS NULL),"
        " count(*) FILTER (WHERE free_ns - alloc_ns < 1000000)"
        f" FROM allocation WHERE arena_id = 0 AND ({condition})").fetchone()
    shown = tuple(int(row["total_" + name]) for name in (
        "at_peak_bytes", "at_peak_count", "bytes", "allocations", "live_bytes", "live_count",
        "short_count"))
    if shown != found:
        print(f"{mode}: {row}\n{condition}: SQL has {found}")
        sys.exit(1)
    checked += 1


for mode in ("", "b", "b b", "C", "b C", "b b S"):
    start = f"4 {mode} Home e"
    rows = written(start)
    if len(rows) < 5:
        print(f"{mode}: only {len(rows)} rows")
        sys.exit(1)
    for i, row in enumerate(rows[:12]):
        (listed,) = screens([f"{start} Home{' Down' * i} l"])
        shown = listed[0]
        step = re.match(r"^ ▸ all \| where (.*?)  +", shown)
        if not step or "…" in step[1]:
            continue
        # The list's own filter as SQL: stacks by number, or by the names of their functions.
        test = re.sub(r"stack has \"([^\"]*)\"", lambda m:
                      "stack_id IN (SELECT stack_id FROM stack_frame JOIN frame f ON f.id = frame_id"
                      " JOIN function n ON n.id = f.function_id WHERE n.name = '" + m[1] + "')",
                      step[1])
        test = re.sub(r"stack in \(([^()]*)\)", lambda m: "(" + " OR ".join(
            "stack_id BETWEEN {} AND {}".format(*(part.split("..") * 2)[:2])
            for part in m[1].split(", ")) + ")", test)
        compare(mode, row, test.replace("stack is null", "stack_id = 0"))
names = ("total_bytes", "bytes", "allocations", "at_peak_bytes", "total_at_peak_bytes", "live_bytes", "short_count",
         "total_allocations", "live_count")
functions = sorted((row["function"], *(int(row[name]) for name in names)) for row in written("5 S"))
counted = sorted(database.execute("""
    SELECT f.name, t.total_bytes, t.self_bytes, t.self_count, t.at_peak_bytes,
           (SELECT total(s.at_peak_bytes) FROM stack s WHERE s.id IN
             (SELECT stack_id FROM stack_frame JOIN frame r ON r.id = frame_id
              WHERE r.function_id = f.id)),
           t.live_bytes, t.short_lived, t.total_count, t.live_count
    FROM function_total t JOIN function f ON f.id = t.function_id WHERE t.total_count > 0"""))
if functions != counted:
    print("functions:", *sorted(set(functions) ^ set(counted))[:4], sep="\n")
    sys.exit(1)
if checked < 30:
    print(f"only {checked} rows were compared")
    sys.exit(1)
print(f"{checked} rows, {len(functions)} functions")
