#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tables.py PRINT_TABLES SESSION [SUPPRESSIONS]: compares the tables of the session library with tables
that are computed here from the rows, in a plain way. The two share no code. Prints each difference;
exit status 1 if there is one."""
import bisect
import collections
import math
import os
import re
import sqlite3
import subprocess
import sys

program, path = sys.argv[1:3]
suppressions = sys.argv[3] if len(sys.argv) > 3 else None
database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
database.row_factory = sqlite3.Row
meta = dict(database.execute("SELECT key, value FROM meta"))
interval = int(meta.get("sample_interval") or 0)
selected = int(meta.get("selected_process") or 0)
start, end, peak_ns = 0, int(meta["duration_ns"]), int(meta["peak_ns"])
if selected:
    start, end, peak_ns = database.execute("SELECT start_ns, end_ns, peak_ns FROM process WHERE id = ?",
                                           (selected,)).fetchone()
differences = 0


def weights(row):
    """The blocks and bytes that a recorded block represents (filter-language.md, "Measures")."""
    if not interval:
        return 1, row["size"]
    w = 1 / (1 - math.exp(-max(row["size"], 1) / interval))
    r = ((row["id"] - 1) * 0x9e3779b97f4a7c15 % 2**64) >> 11
    return int(w + r / 2**53), round(w * row["size"])


ROWS = [dict(row) for row in database.execute(
    """SELECT a.*, p.id AS process_id FROM allocation a LEFT JOIN thread t ON t.id = a.thread_id
    LEFT JOIN process p ON p.id = t.process_id""")]
for row in ROWS:
    row["blocks"], row["bytes"] = weights(row)
HEAP = [row for row in ROWS if row["arena_id"] == 0 and (not selected or row["process_id"] == selected)]
FILTERS = {
    "": lambda row: True,
    "all | where size > 40": lambda row: row["size"] > 40,
}


def compare(what, got, wanted):
    """Compares two collections of lines, in any order."""
    global differences
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    for sign, lines in (("-", wanted - got), ("+", got - wanted)):
        for line in list(lines)[:5]:
            print(f"{what}: {sign} {line}")
            differences += 1


def ask(table, filter, *arguments):
    run = subprocess.run([program, table, path, filter, *arguments], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{table} of {filter!r}: {run.stderr}")
    return run.stdout.splitlines()


# ---- leaks ----

types = {row["id"]: row for row in database.execute("SELECT * FROM type")}
same = {0: 0}
for number in sorted(types):
    same[number] = min(other for other in types if types[other]["name"] == types[number]["name"])

frame_rows = {row["id"]: row for row in database.execute(
    """SELECT f.*, fu.name AS function, s.path AS file, m.path AS module FROM frame f
    LEFT JOIN function fu ON fu.id = f.function_id LEFT JOIN source_file s ON s.id = f.source_file_id
    LEFT JOIN module m ON m.id = f.module_id""")}
frames = collections.defaultdict(list)  # by stack, innermost first
for row in database.execute("SELECT * FROM stack_frame ORDER BY stack_id, depth"):
    frames[row["stack_id"]].append(row["frame_id"])
stacks = {row["id"]: row for row in database.execute("SELECT * FROM stack")}
runtime = {row["stack_id"]: row for row in database.execute("SELECT * FROM runtime_stack")}


def pattern_of(stack):
    """The pattern that LeakSanitizer would choose, by regular expressions."""
    lines = open(suppressions).read().splitlines() if suppressions else []
    patterns = [line[5:] for line in lines if line.startswith("leak:")]
    for frame in frames[stack]:
        for field in (("module",), ("function", "file")):
            for pattern in patterns:
                begin, finish = pattern.startswith("^"), pattern.endswith("$")
                body = pattern[begin:len(pattern) - finish]
                expression = ("^" if begin else "") + ".*".join(map(re.escape, body.split("*"))) + \
                    ("$" if finish else "")
                if any(frame_rows[frame][name] and re.search(expression, frame_rows[frame][name])
                       for name in field):
                    return pattern
    return None


def path_of(stack):
    own = frames[stack]
    site = stacks[stack]["call_site_frame_id"] if stack in stacks else None
    own = own[own.index(site):] if site in own else own
    return tuple(dict.fromkeys(frame_rows[frame]["function_id"] for frame in own))


def leaks(rows):
    groups, reasons = collections.defaultdict(list), {}
    rows = [row for row in rows if row["free_ns"] is None]
    # A leak is an early one if the last block of its stack and type was.
    last_of = collections.defaultdict(int)
    for row in rows:
        of = row["stack_id"], same[row["type_id"]]
        last_of[of] = max(last_of[of], row["alloc_ns"])
    for row in rows:
        stack = row["stack_id"]
        if stack not in reasons:
            kept = runtime.get(stack)
            reasons[stack] = ("", "") if not kept else \
                ("suppressed", kept["pattern"]) if kept["kind"] == "suppressed" else ("runtime", kept["kind"])
            if not kept and pattern_of(stack):
                reasons[stack] = ("suppressed here", pattern_of(stack))
        kind = reasons[stack]
        if not kind[0]:
            early = last_of[stack, same[row["type_id"]]] <= start + (end - start) // 10
            kind = ("start-up" if early else "later", "")
        groups[path_of(stack), same[row["type_id"]], kind].append(row)
    lines, totals = [], collections.Counter()
    for (_, type, (kind, why)), members in groups.items():
        first, last = min(row["alloc_ns"] for row in members), max(row["alloc_ns"] for row in members)
        born, of_stack = [0] * 10, collections.defaultdict(lambda: [0, 0])
        for row in members:
            born[min(9, max(0, (row["alloc_ns"] - start) * 10 // (end - start)))] += row["blocks"]
            of_stack[row["stack_id"]][0] += row["blocks"]
            of_stack[row["stack_id"]][1] += row["bytes"]
        blocks, bytes = sum(row["blocks"] for row in members), sum(row["bytes"] for row in members)
        order = sorted(of_stack, key=lambda stack: (-of_stack[stack][1], stack))
        exact = all(row["type_id"] and types[row["type_id"]]["confidence"] == "exact" for row in members)
        lines.append("\t".join(map(str, (
            kind, why, type, int(exact), blocks, bytes, min(row["size"] for row in members),
            max(row["size"] for row in members), first, last, sum(number > 0 for number in born),
            " ".join(map(str, born)),
            " ".join(f"{stack}:{of_stack[stack][0]}:{of_stack[stack][1]}" for stack in order)))))
        totals[kind, "groups"] += 1
        totals[kind, "blocks"] += blocks
        totals[kind, "bytes"] += bytes
    for kind in ("later", "start-up", "suppressed here", "runtime", "suppressed"):
        lines.append("\t".join([kind] + [str(totals[kind, number]) for number in ("groups", "blocks", "bytes")]))
    return lines


def without_pattern(lines):
    return [line.rsplit("\t", 1)[0] if line.count("\t") > 4 else line for line in lines]


# ---- types, sizes, lifetimes, threads ----

def live_at(row, ns):
    return row["alloc_ns"] <= ns and (row["free_ns"] is None or row["free_ns"] > ns)


def total(rows, number):
    return sum(row[number] for row in rows)


def by(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def sums(rows):
    live, peak = [row for row in rows if row["free_ns"] is None], [row for row in rows if live_at(row, peak_ns)]
    return [total(live, "blocks"), total(live, "bytes"), total(peak, "blocks"), total(peak, "bytes")]


def lines_of(rows):
    return ["\t".join(map(str, row)) for row in rows]


def type_rows(rows):
    for type, members in by(rows, lambda row: same[row["type_id"]]).items():
        exact = [row for row in members if row["type_id"] and types[row["type_id"]]["confidence"] == "exact"]
        yield [type, total(members, "blocks"), total(members, "bytes"), total(exact, "bytes"), *sums(members)]


padding = collections.Counter()
for number, row in types.items():
    covered = set()
    for member in database.execute("SELECT * FROM type_member WHERE type_id = ?", (number,)):
        covered |= set(range(member["offset"], member["offset"] + member["size"]))
    padding[number] = (row["size"] or 0) - len(covered) if covered else 0


def course_rows(rows):
    points = [start + (end - start) * (2 * i + 1) // 20 for i in range(10)]
    for type, members in by(rows, lambda row: same[row["type_id"]]).items():
        changes = collections.Counter()
        for row in members:
            changes[row["alloc_ns"]] += row["bytes"]
            if row["free_ns"] is not None:
                changes[row["free_ns"]] -= row["bytes"]
        live = largest = 0
        for ns in sorted(changes):
            live += changes[ns]
            largest = max(largest, live)
        yield [type, sum(row["count"] * row["blocks"] for row in members),
               sum(padding[row["type_id"]] * row["count"] * row["blocks"] for row in members),
               *(sum(row["bytes"] for row in members if live_at(row, ns)) for ns in (end // 4, end // 4 * 3)),
               largest,
               *(sum(row["bytes"] for row in members if live_at(row, ns)) for ns in points)]


def stacks_test(stacks):
    """The test of the filter language that names these stacks."""
    known = sorted(stack for stack in stacks if stack)
    ranges = []
    for stack in known:
        if ranges and ranges[-1][1] == stack - 1:
            ranges[-1][1] = stack
        else:
            ranges.append([stack, stack])
    listed = "stack in (" + ", ".join(f"{a}..{b}" if b > a else str(a) for a, b in ranges) + ")"
    return listed if len(known) == len(stacks) else f"(stack is null or {listed})" if known else "stack is null"


def candidate_rows(rows):
    names = collections.defaultdict(list)
    for row in database.execute("SELECT * FROM type_candidate ORDER BY position"):
        names[row["stack_id"], row["size"]].append(row["name"])
    function = dict(database.execute("SELECT id, function_id FROM stack"))
    joined = by([row for row in rows if row["type_id"] == 0 and (row["stack_id"], row["size"]) in names],
                lambda row: (function.get(row["stack_id"]), row["size"], tuple(names[row["stack_id"], row["size"]])))
    for (_, size, fitting), members in joined.items():
        _, live, _, peak = sums(members)
        yield [stacks_test({row["stack_id"] for row in members}), size, total(members, "blocks"),
               total(members, "bytes"), live, peak, len(fitting)]


def size_rows(rows):
    for size, members in by(rows, lambda row: row["size"]).items():
        letter = "s" if size <= 32 else "m" if size <= 256 else "l" if size <= 2048 else "x"
        yield [size, letter, total(members, "blocks"), total(members, "bytes"), *sums(members)]


def bins(rows, lifetime, bounds):
    groups = by([row for row in rows if row["free_ns"] is not None],
                lambda row: bisect.bisect_right(bounds, lifetime(row)) - 1)
    for place in range(min(groups, default=0), max(groups, default=-1) + 1):
        yield [bounds[place], total(groups[place], "blocks"), total(groups[place], "bytes")]
    for name, freed in (("freed", True), ("live", False)):
        part = [row for row in rows if (row["free_ns"] is not None) == freed]
        yield [name, total(part, "blocks"), total(part, "bytes")]


def lifetime_rows(rows):
    return bins(rows, lambda row: row["free_ns"] - row["alloc_ns"],
                [0] + sorted(step * 10**power for step in (1, 2, 5) for power in range(18)))


moments = sorted(row["alloc_ns"] for row in HEAP)


def between_rows(rows):
    return bins(rows, lambda row: sum(row["alloc_ns"] < ns <= row["free_ns"] for ns in
                                      moments[bisect.bisect_left(moments, row["alloc_ns"]):
                                              bisect.bisect_right(moments, row["free_ns"])]),
                [0] + [2**power for power in range(60)])


def cross_thread_rows(rows):
    for pair, members in by(rows, lambda row: (row["process_id"] or 0, row["thread_id"],
                                               -1 if row["free_ns"] is None else row["free_thread_id"])).items():
        yield [*pair, total(members, "blocks"), total(members, "bytes"), sums(members)[3]]


def arena_rows():
    """Looks at each byte that an arena's memory has: which block of another arena is the smallest
    that holds it."""
    live = [row for row in ROWS if row["free_ns"] is None]
    for arena in database.execute("SELECT id FROM arena"):
        own = [row for row in live if row["arena_id"] == arena["id"]]
        hosts, taken = {}, collections.defaultdict(set)
        for row in own:
            around = [host for host in live if host["arena_id"] != arena["id"] and
                      host["process_id"] == row["process_id"] and
                      host["address"] <= row["address"] < host["address"] + host["size"]]
            if around:
                host = min(around, key=lambda host: host["size"])
                hosts[host["id"]] = host
                taken[host["id"]] |= set(range(row["address"], row["address"] + row["size"]))
        holes = []
        for number, host in hosts.items():
            free = [address not in taken[number]
                    for address in range(host["address"], host["address"] + host["size"])]
            lengths = "".join("01"[bit] for bit in free).split("0")
            holes += [len(length) for length in lengths if length]
        yield [arena["id"], len(own), sum(row["size"] for row in own), len(hosts),
               sum(host["size"] for host in hosts.values()), sum(map(len, taken.values())),
               len(holes), sum(holes), max(holes, default=0)]


TABLES = {"types": type_rows, "courses": course_rows, "candidates": candidate_rows, "sizes": size_rows,
          "lifetimes": lifetime_rows, "between": between_rows, "cross_thread_frees": cross_thread_rows}

counted = 0
for filter, holds in FILTERS.items():
    rows = [row for row in HEAP if holds(row)]
    wanted = leaks(rows)
    compare(f"leaks of {filter!r}", without_pattern(ask("leaks", filter, *([suppressions] if suppressions else []))),
            wanted)
    counted += len(wanted)
    for table, make in TABLES.items() if not suppressions else ():
        wanted = lines_of(make(rows))
        compare(f"{table} of {filter!r}", ask(table, filter), wanted)
        counted += len(wanted)

if not suppressions:
    wanted = lines_of(arena_rows())
    compare("arenas", ask("arenas", ""), wanted)
    counted += len(wanted)

if not suppressions and not differences:
    # The pattern of each group removes this group, and what else it names.
    for line in ask("leaks", ""):
        if line.count("\t") < 5 or line.endswith("\t-"):
            continue
        file = path + ".supp"
        open(file, "w").write(f"# of one group\nleak:{line.rsplit(chr(9), 1)[1]}\n")
        left = without_pattern(ask("leaks", "", file))
        if line.startswith("later\t") and without_pattern([line])[0] in left:
            print(f"not suppressed by its own pattern: {line}")
            differences += 1
        os.unlink(file)

print(f"{len(HEAP)} rows, {counted} lines compared")
sys.exit(differences > 0)
