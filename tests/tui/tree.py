# SPDX-License-Identifier: BSD-2-Clause
"""tree.py MPROF_TUI SESSION: lists the allocations of every row of the tree view on the first screen,
in each of its directions, and compares the rows with SQL on what the list's filter selects."""
import re
import sqlite3
import subprocess
import sys

program, session = sys.argv[1:]
database = sqlite3.connect(f"file:{session}?mode=ro", uri=True)
peak = int(database.execute("SELECT value FROM meta WHERE key = 'peak_ns'").fetchone()[0])
ROW = re.compile(r"^ +([\d.]+[KMG]?) +(?:[<\d.]+%)? +([\d.]+[KMG]?) +([\d,.]+[kMG]?) +"
                 r"([\d.]+[KMG]?) +(?:[<\d.]+%|0)? +\S.*$")
checked = 0


def screens(keys):
    """Runs the keys, with a dump after each line of them; returns the lines of each screen."""
    script = "".join(f"key {line}\ndump\n" for line in keys)
    out = subprocess.run([program, "--script", "/dev/stdin", "--size", "240x100", session],
                         input=script, capture_output=True, text=True, check=True).stdout
    return [screen.strip("\n").splitlines()[1:]
            for screen in re.split(r"^== .*==$", out, flags=re.M)[1:]]




def number(text):
    factor = {"k": 1000, "K": 1024, "M": 1024 ** 2}.get(text[-1], 1)
    return float(text.rstrip("kKMG").replace(",", "")) * factor


def compare(mode, row, condition):
    """Compares the numbers of a row, which are rounded to three digits."""
    global checked
    found = database.execute(
        f"SELECT ifnull(sum(size) FILTER (WHERE alloc_ns <= {peak} AND ifnull(free_ns > {peak}, 1)), 0),"
        " ifnull(sum(size), 0), count(*), ifnull(sum(size) FILTER (WHERE free_ns IS NULL), 0)"
        f" FROM allocation WHERE arena_id = 0 AND ({condition})").fetchone()
    for shown, value in zip(ROW.match(row).groups(), found):
        if abs(number(shown) - value) > max(0.6, value * 0.0051):
            print(f"{mode}: {row}\n{condition}: SQL has {found}")
            sys.exit(1)
    checked += 1


for mode in ("", "b", "b b", "C", "b C", "b b S"):
    start = f"4 {mode} Home e"
    (first,) = screens([start])
    rows = [line for line in first if ROW.match(line)]
    if len(rows) < 5:
        print(f"{mode}: only {len(rows)} rows", *first, sep="\n")
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
if checked < 30:
    print(f"only {checked} rows were compared")
    sys.exit(1)
print(f"{checked} rows")
