#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""groups.py PRINT_GRAPH SESSION: compares the groups that the session library makes with groups that
are computed here from the rows of the tables, in a plain way. The two share no code. Prints each
difference; exit status 1 if there is one."""
import collections
import sqlite3
import subprocess
import sys

program, path = sys.argv[1:3]
database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
meta = dict(database.execute("SELECT key, value FROM meta"))
duration, peak_ns = int(meta["duration_ns"]), int(meta["peak_ns"])
selected = int(meta.get("selected_process") or 0)
if selected:
    duration, peak_ns = database.execute("SELECT end_ns, peak_ns FROM process WHERE id = ?",
                                         (selected,)).fetchone()
function_name = dict(database.execute("SELECT id, name FROM function WHERE id > 0"))
frame_function = dict(database.execute("SELECT id, function_id FROM frame"))
frames = collections.defaultdict(list)  # by stack, innermost first
for stack, frame in database.execute("SELECT stack_id, frame_id FROM stack_frame ORDER BY stack_id, depth"):
    frames[stack].append(frame)
call_site = dict(database.execute("SELECT id, call_site_frame_id FROM stack"))
user = {stack: frame_function.get(frame)
        for stack, frame in database.execute("SELECT id, user_frame_id FROM stack")}


def outward(stack, count):
    """The name of the function `count` frames outward of a stack's call site."""
    site = call_site.get(stack)
    if site is None or site not in frames[stack]:
        return None
    place = frames[stack].index(site) + count
    return function_name.get(frame_function[frames[stack][place]]) if place < len(frames[stack]) else None


ROWS = """SELECT a.id, a.size, a.count, a.alloc_ns, a.free_ns, a.stack_id, a.free_stack_id, a.thread_id, a.free_thread_id, a.realloc_of,
  a.arena_id, k.name AS kind, ty.name AS type, coalesce(ty.confidence, 'unknown') AS confidence,
  o.name AS owner, f.name AS function, s.path AS file, fr.line AS line, m.name AS module, th.process_id AS process
  FROM allocation a JOIN kind k ON k.id = a.kind LEFT JOIN type ty ON ty.id = a.type_id
  LEFT JOIN thread th ON th.id = a.thread_id LEFT JOIN stack st ON st.id = a.stack_id
  LEFT JOIN owner o ON o.id = st.owner_id
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id LEFT JOIN module m ON m.id = fr.module_id"""
database.row_factory = sqlite3.Row

KEYS = {
    "size": lambda r: r["size"], "count": lambda r: r["count"], "type": lambda r: r["type"],
    "confidence": lambda r: r["confidence"], "function": lambda r: r["function"],
    "caller": lambda r: outward(r["stack_id"], 1), "frame 0": lambda r: outward(r["stack_id"], 0),
    "frame 3": lambda r: outward(r["stack_id"], 3), "file": lambda r: r["file"],
    "line": lambda r: r["line"] or None, "module": lambda r: r["module"],
    "stack": lambda r: r["stack_id"] or None, "free_stack": lambda r: r["free_stack_id"] or None,
    "thread": lambda r: r["thread_id"], "free_thread": lambda r: r["free_thread_id"] or None,
    "owner": lambda r: r["owner"], "user": lambda r: function_name.get(user.get(r["stack_id"])), "process": lambda r: r["process"] or None,
    "arena": lambda r: r["arena_id"] or None, "kind": lambda r: r["kind"],
    "freed": lambda r: "true" if r["free_ns"] is not None else "false",
}
MEASURES = ["allocations", "bytes", "objects", "live_bytes", "live_count", "at_peak_bytes", "peak_bytes",
            "avg_size", "avg_lifetime", "min_size", "max_size", "min_lifetime", "max_lifetime",
            "first_time", "last_time", "born_over", "died_over", "rises", "climb", "replaced", "turnover"]


def largest(rows):
    """The largest sum of the sizes of rows that were live at one moment."""
    events = [(r["alloc_ns"], 1, r["size"]) for r in rows]
    events += [(r["free_ns"], 0, -r["size"]) for r in rows if r["free_ns"] is not None]
    live = best = 0
    for _, _, change in sorted(events):
        live += change
        best = max(best, live)
    return best


def rises(rows):
    """Counts how often the live bytes rise between the middles of the tenths of the run."""
    points = [duration * (2 * i + 1) // 20 for i in range(10)]
    live = [sum(r["size"] for r in rows if r["alloc_ns"] <= p and (r["free_ns"] is None or r["free_ns"] > p))
            for p in points]
    return sum(after > before for before, after in zip(live, live[1:]))


def climb(rows):
    """The percent of rows that climb from the one before, in the order of id within 65,536 ids, and the
    percent of the bytes from which they climb."""
    rows = sorted(rows, key=lambda r: r["id"])
    chunk = lambda r: (r["id"] - 1) // 65536
    climbs = replaced = 0
    for i in range(1, len(rows)):
        a, b = rows[i - 1], rows[i]
        first = i == 1 or chunk(rows[i - 2]) != chunk(b)
        if chunk(a) == chunk(b) and b["size"] > a["size"] and a["free_ns"] is not None \
                and (b["realloc_of"] == a["id"] or a["alloc_ns"] <= b["alloc_ns"] <= a["free_ns"]
                     and (first or rows[i - 2]["free_ns"] <= b["alloc_ns"])):
            climbs += 1
            replaced += a["size"]
    sizes = sum(r["size"] for r in rows)
    return 100 * climbs // len(rows), 100 * replaced // sizes if sizes else 0


def measure(rows):
    # A block of another process may begin after the selected one has ended.
    lives = [max(0, (duration if r["free_ns"] is None else r["free_ns"]) - r["alloc_ns"]) for r in rows]
    sizes = [r["size"] for r in rows]
    live = [r["size"] for r in rows if r["free_ns"] is None]
    at_peak = [r["size"] for r in rows
               if r["alloc_ns"] <= peak_ns and (r["free_ns"] is None or r["free_ns"] > peak_ns)]
    begun = sorted(r["alloc_ns"] for r in rows)
    ended = [max(duration, r["alloc_ns"]) if r["free_ns"] is None else r["free_ns"] for r in rows]
    peak = largest(rows)
    return [len(rows), sum(sizes), sum(r["count"] for r in rows), sum(live), len(live), sum(at_peak),
            peak, sum(sizes) // len(rows), sum(lives) // len(rows), min(sizes), max(sizes),
            min(lives), max(lives), begun[0], begun[-1], begun[-1] - begun[0], max(ended) - min(ended),
            rises(rows), *climb(rows), sum(sizes) // peak if peak else 0]


def expected(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return {key: measure(rows) for key, rows in groups.items()}


def path_of(stack):
    """The functions of a stack from the root inwards to the call site."""
    site = call_site.get(stack)
    inner = frames[stack].index(site) if site in frames[stack] else 0
    return tuple(function_name.get(frame_function[f], "?") for f in reversed(frames[stack][inner:]))


def fold(rows, least):
    kept = {}
    left = collections.defaultdict(list)
    for row in rows:
        left[path_of(row["stack_id"])].append(row)
    for length in range(max(map(len, left), default=0), 0, -1):
        for path in [p for p in left if len(p) == length]:
            group = left.pop(path)
            if sum(r["size"] for r in group) >= least:
                kept[path] = group
            else:
                left[path[:-1]].extend(group)
    if left[()]:
        kept[()] = left[()]
    return {(";".join(path) if path else "-",): measure(group) for path, group in kept.items()}


differences = compared = 0


def run(graph):
    output = subprocess.run([program, path, graph], capture_output=True, text=True, check=False,
                            errors="surrogateescape")
    if output.returncode != 0:
        sys.exit(f"{graph}: {output.stderr}")
    lines = [line.split("\t") for line in output.stdout.split("\n")[1:-1]]
    return lines[0], lines[1:]


def complain(graph, what):
    global differences
    differences += 1
    if differences < 20:
        print(f"{graph}: {what}")


def compare(graph, keys, wanted):
    global compared
    head, lines = run(graph)
    if head[:len(keys) + len(MEASURES)] != keys + MEASURES:
        complain(graph, f"columns {head}")
        return
    found = {tuple(line[:len(keys)]): line[len(keys):len(keys) + len(MEASURES)] for line in lines}
    wanted = {tuple("-" if k is None else str(k) for k in (key if isinstance(key, tuple) else (key,))):
              [str(value) for value in values] for key, values in wanted.items()}
    compared += len(wanted)
    if len(found) != len(lines):
        complain(graph, "two groups have one key")
    for key in wanted.keys() | found.keys():
        if wanted.get(key) != found.get(key):
            complain(graph, f"{key}: found {found.get(key)}, expected {wanted.get(key)}")
    # The share of each in all of them.
    every = sum(int(line[len(keys)]) for line in lines)
    if [int(line[head.index("share")]) for line in lines] != [int(line[len(keys)]) * 100 // every for line in lines]:
        complain(graph, "the shares are wrong")
    # The first order: largest bytes first.
    size = [int(line[len(keys) + 1]) for line in lines]
    if size != sorted(size, reverse=True):
        complain(graph, "the groups are not in the order of bytes")


# Graphs that do not name arena have only the process heap, those that do not name process only the
# selected one.
all_rows = database.execute(ROWS).fetchall()
every = [r for r in all_rows if selected in (0, r["process"])]
heap = [r for r in every if r["arena_id"] == 0]


def compare_estimates():
    """The estimates of groups by stack are those of ingest, but for the rounding of each row."""
    head, lines = run("all | join stack")
    recorded = dict(database.execute("SELECT stack_id, count(*) FROM allocation WHERE arena_id = 0 GROUP BY 1"))
    estimates = {row["stack_id"]: row for row in database.execute("SELECT * FROM estimate")}
    for line in lines:
        found = dict(zip(head, line))
        stack = 0 if found["stack"] == "-" else int(found["stack"])
        for name, rounding in (("allocations", 1), ("bytes", 0.5), ("live_count", 1), ("live_bytes", 0.5)):
            if abs(int(found[name]) - estimates[stack][name]) > recorded[stack] * rounding + 0.01:
                complain("estimates", f"stack {stack}: {name} {found[name]}, expected {estimates[stack][name]}")
    if len(lines) != len(recorded):
        complain("estimates", f"{len(lines)} stacks, expected {len(recorded)}")
    for name in ("allocations", "bytes"):
        variance = sum(row[name + "_variance"] for row in estimates.values())
        error = float(run("all | join stack | sum " + name)[0][2])
        if abs(error / variance ** 0.5 - 1) > 1e-4: # it is printed with six digits
            complain("estimates", f"the standard error of {name} is {error}, expected {variance ** 0.5}")
    print(f"{sum(recorded.values())} sampled allocations, {len(lines)} groups, {differences} differences")
    sys.exit(differences > 0)


if int(meta.get("sample_interval") or 0) > 0:
    compare_estimates()
for keys in (["type"], ["function"], ["stack"], ["thread"], ["size"], ["count"], ["kind"], ["freed"], ["caller"],
             ["frame 3"], ["file", "line"], ["module", "thread"], ["type", "function", "freed"],
             ["confidence", "free_stack"], ["stack", "type", "size"], ["function", "stack"],
             ["process", "kind"], ["free_thread", "thread"], ["user", "owner"]):
    rows = heap if "process" not in keys else [r for r in all_rows if r["arena_id"] == 0]
    compare("all | join " + ", ".join(keys), keys,
            expected(rows, lambda r, keys=keys: tuple(KEYS[k](r) for k in keys)))
compare("all | join arena", ["arena"], expected(every, KEYS["arena"]))
for graph, chosen in (("live", lambda r: r["free_ns"] is None),
                      ("all | where size > 100", lambda r: r["size"] > 100),
                      ("live at peak", lambda r: r["alloc_ns"] <= peak_ns and
                       (r["free_ns"] is None or r["free_ns"] > peak_ns))):
    some = [r for r in heap if chosen(r)]
    compare(graph + " | join function, type", ["function", "type"],
            expected(some, lambda r: (r["function"], r["type"])))
total = sum(r["size"] for r in heap)
for least in (0, 1, 4096, total // 100, total // 7, total * 2):
    compare(f"all | fold {least}", ["path"], fold(heap, least))
print(f"{len(heap)} allocations, {compared} groups, {differences} differences")
sys.exit(differences > 0)
