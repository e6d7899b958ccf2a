#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tables.py MPROF_TUI SESSION: lets the browser write the rows of its tables as CSV, without a filter
and with one, and compares each number with SQL. Prints each difference; exit status 1 if there is one."""
import collections
import csv
import os
import sqlite3
import subprocess
import sys
import tempfile

browser, path = sys.argv[1:3]
database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
meta = dict(database.execute("SELECT key, value FROM meta"))
selected = int(meta.get("selected_process") or 0)
start, end, peak_ns = 0, int(meta["duration_ns"]), int(meta["peak_ns"])
if selected:
    start, end, peak_ns = database.execute("SELECT start_ns, end_ns, peak_ns FROM process WHERE id = ?", (selected,)).fetchone()
HEAP = """CREATE TEMP VIEW heap AS SELECT v.*, v.alloc_ns <= {0} AND (v.free_ns IS NULL OR v.free_ns > {0}) AS at_peak
    FROM v_allocation v WHERE v.arena_id = 0 AND ({1} = 0 OR v.process_id = {1}) AND {2}"""
differences = lines = 0


def rows(view, filter, *keys):
    """The table of a view, as a list of dictionaries."""
    with tempfile.TemporaryDirectory() as folder:
        script, out = os.path.join(folder, "script"), os.path.join(folder, "out.csv")
        open(script, "w").write(f"key :\ntype {view}\nkey Enter\n" + "".join(key + "\n" if key.startswith("type ") else f"key {key}\n" for key in keys) +
                                f"key :\ntype w {out}\nkey Enter\ndump\n")
        run = subprocess.run([browser, "--filter", filter, "--script", script, "--size", "200x60", path],
                             capture_output=True, text=True)
        if run.returncode != 0 or not os.path.exists(out):
            sys.exit(f"{view}: {run.stderr}{run.stdout}")
        return list(csv.DictReader(open(out, newline="")))


def compare(what, got, wanted):
    global differences, lines
    got = collections.Counter(tuple(map(str, row)) for row in got)
    wanted = collections.Counter(tuple(map(str, row)) for row in wanted)
    lines += sum(wanted.values())
    for sign, part in (("-", wanted - got), ("+", got - wanted)):
        for line in list(part)[:5]:
            print(f"{what}: {sign} {line}")
            differences += 1


def take(table, *columns):
    return [[row[column] for column in columns] for row in table]


SUMS = "sum(size), count(*), total(size * (free_ns IS NULL)), total(size * at_peak)"


def whole(table):
    return [[int(cell) if isinstance(cell, float) else cell for cell in row] for row in table]


for filter, condition in (("all", "1"), ("all | where size > 40", "v.size > 40")):
    database.execute("DROP VIEW IF EXISTS temp.heap")
    database.execute(HEAP.format(peak_ns, selected, condition))
    ask = lambda sql: whole(database.execute(sql).fetchall())
    compare(f"types of {filter}",
            take(rows("types", filter), "bytes", "allocations", "live_bytes", "at_peak_bytes", "type", "avg_size"),
            ask(f"SELECT {SUMS}, coalesce(type, '(unknown)'), sum(size) / count(*) FROM heap GROUP BY type"))
    compare(f"functions of {filter}",
            take(rows("functions", filter, "S"), "function", "bytes", "allocations", "at_peak_bytes", "live_bytes", "live_count",
                 "short_count", "total_bytes", "total_allocations", "total_at_peak_bytes"),
            ask("""WITH h AS (SELECT heap.*, s.function_id AS site FROM heap JOIN stack s ON s.id = stack_id),
                own AS (SELECT site AS id, sum(size) AS self, count(*) AS n, total(size * at_peak) AS peak,
                    total(size * (free_ns IS NULL)) AS live, total(free_ns IS NULL) AS live_n,
                    total(coalesce(free_ns - alloc_ns < 1000000, 0)) AS short FROM h GROUP BY 1),
                below AS (SELECT DISTINCT stack_id, function_id AS id FROM stack_frame f JOIN frame ON frame.id = f.frame_id
                    UNION SELECT id, function_id FROM stack WHERE function_id IS NOT NULL),
                whole AS (SELECT below.id, sum(size) AS bytes, count(*) AS n, total(size * at_peak) AS peak
                    FROM below JOIN h USING (stack_id) GROUP BY 1)
                SELECT f.name, coalesce(self, 0), coalesce(own.n, 0), coalesce(own.peak, 0), coalesce(live, 0),
                    coalesce(live_n, 0), coalesce(short, 0), bytes, whole.n, whole.peak
                FROM whole JOIN function f USING (id) LEFT JOIN own USING (id)"""))
    compare(f"sizes of {filter}",
            take(rows("sizes", filter), "size", "class", "allocations", "bytes", "live_count", "live_bytes", "at_peak_count",
                 "at_peak_bytes"),
            ask("""SELECT size, CASE WHEN size <= 32 THEN 's' WHEN size <= 256 THEN 'm' WHEN size <= 2048 THEN 'l'
                ELSE 'x' END, count(*), sum(size), total(free_ns IS NULL), total(size * (free_ns IS NULL)),
                total(at_peak), total(size * at_peak) FROM heap GROUP BY size"""))
    compare(f"classes of {filter}",
            take(rows("sizes", filter, "C"), "class", "allocations", "bytes", "live_bytes"),
            ask("""SELECT CASE WHEN size <= 32 THEN 's' WHEN size <= 256 THEN 'm' WHEN size <= 2048 THEN 'l'
                ELSE 'x' END, count(*), sum(size), total(size * (free_ns IS NULL)) FROM heap GROUP BY 1"""))
    lived = rows("lifetimes", filter)
    compare(f"lifetimes of {filter}",
            [["never freed" if row["lifetime"] == "never freed" else "freed", row["allocations"], row["bytes"]]
             for row in lived if row["lifetime"] == "never freed"] +
            [["freed", sum(int(row["allocations"]) for row in lived if row["lifetime"] != "never freed"),
              sum(int(row["bytes"]) for row in lived if row["lifetime"] != "never freed")]],
            ask("""SELECT 'never freed', total(free_ns IS NULL), total(size * (free_ns IS NULL)) FROM heap UNION ALL
                SELECT 'freed', total(free_ns IS NOT NULL), total(size * (free_ns IS NOT NULL)) FROM heap"""))
    of_threads = """SELECT count(*), sum(size), total(size * (free_ns IS NULL)), total(size * at_peak),
        total(free_ns IS NOT NULL AND free_thread_id <> thread_id) FROM heap GROUP BY """
    compare(f"processes and threads of {filter}",
            take([row for row in rows("threads", filter) if row["allocations"] != "0"],
                 "allocations", "bytes", "live_bytes", "at_peak_bytes", "handed_on"),
            ask(of_threads + "process_id") + ask(of_threads + "thread_id"))
    compare(f"leaks of {filter}",
            [[sum(int(row["live_bytes"]) for row in table), sum(int(row["live_count"]) for row in table)]
             for table in [rows("leaks", filter)]],
            ask("SELECT total(size), count(*) FROM heap WHERE free_ns IS NULL"))
    true_leaks = ask(f"""SELECT total(size), count(*) FROM (SELECT size, max(alloc_ns) OVER (PARTITION BY stack_id, type) AS last
        FROM heap WHERE free_ns IS NULL AND stack_id NOT IN (SELECT stack_id FROM runtime_stack))
        WHERE last > {start} + ({end} - {start}) / 10""")
    compare(f"true leaks of {filter}",
            [[sum(int(row["live_bytes"]) for row in table), sum(int(row["live_count"]) for row in table)]
             for table in [[row for row in rows("leaks", filter) if row["what"] == "leak"]]], true_leaks)
    if filter == "all" and true_leaks[0][1] > 0:
        listed = rows("allocations", "leaks_by_user | ungroup")
        compare("leaks of the graph", [[sum(int(row["size"]) for row in listed), len(listed)]], true_leaks)
    compare(f"no leaks of {filter}",
            [[sum(int(row["live_bytes"]) for row in rows("leaks", filter) if row["what"] in ("runtime", "suppressed"))]],
            ask("""SELECT total(size) FROM heap WHERE free_ns IS NULL
                AND stack_id IN (SELECT stack_id FROM runtime_stack)"""))
# The list of allocations, the page about each of some blocks, and the files of the source.
database.execute("DROP VIEW IF EXISTS temp.heap")
database.execute(HEAP.format(peak_ns, selected, "1"))
some = [row[0] for row in database.execute("SELECT id FROM heap ORDER BY (id * 7919) % 104729, id LIMIT 30")]
chosen = "all | where id in (%s)" % ", ".join(map(str, some))
LISTED = """SELECT h.id, h.address, h.size, h.count, coalesce(h.type, '(unknown)'), coalesce(h.function, 'no call site known'),
    h.thread, h.alloc_ns, coalesce(h.free_ns, {0}) - h.alloc_ns, CASE WHEN h.free_ns IS NULL THEN 'not freed'
    ELSE (SELECT name FROM thread WHERE id = h.free_thread_id) END FROM heap h WHERE h.id IN ({1})"""
compare("allocations", take(rows("allocations", chosen), "id", "address", "size", "count", "type", "function", "thread",
                            "alloc_ns", "lifetime_ns", "free_thread"),
        [row[:9] + (row[9],) for row in database.execute(LISTED.format(end, ", ".join(map(str, some))))])
for block in some[:3]:
    page = [(row["about"].strip(), row["what"]) for row in rows("allocations", f"all | where id == {block}", "Enter")]
    number, address, size, stack, live, before, after = database.execute(
        """SELECT a.id, a.address, a.size, a.stack_id, a.free_ns IS NULL,
           (SELECT count(*) FROM v_allocation b WHERE a.address >= b.address
            AND a.address < b.address + max(b.size, 1) AND b.arena_id = a.arena_id
            AND b.process_id = a.process_id AND b.free_ns <= a.alloc_ns AND b.id <> a.id),
           (SELECT count(*) FROM v_allocation b WHERE a.address >= b.address
            AND a.address < b.address + max(b.size, 1) AND b.arena_id = a.arena_id
            AND b.process_id = a.process_id AND b.alloc_ns >= a.free_ns AND b.id <> a.id)
           FROM v_allocation a WHERE a.id = ?""", (block,)).fetchone()
    what = dict(reversed(page))
    uses = lambda count: "nothing" if count == 0 else "one allocation held it" if count == 1 else f"{count:,} allocations held it"
    frames = [text for about, text in page[page.index(("allocated in", "")) + 1:]]
    compare(f"detail of {block}",
            [[what["allocation"], what["address"], what["size"].split(" bytes")[0], what["freed"].startswith("never"),
              what["this address before"], what["this address after"], frames[:frames.index("")]]],
            [[f"{number:,}", f"{address:x} to {address + size:x}", f"{size:,}", bool(live), uses(before), uses(after),
              [row[0] for row in database.execute("SELECT function FROM v_stack WHERE stack_id = ? ORDER BY depth", (stack,))]]])
compare("source", take(rows("source", "all", "S"), "file", "total_at_peak_bytes"),
        whole(database.execute("""SELECT file, sum(bytes) FROM (SELECT DISTINCT s.file, s.stack_id, at_peak_bytes AS bytes
            FROM v_stack s JOIN (SELECT stack_id, total(size * at_peak) AS at_peak_bytes FROM heap GROUP BY stack_id)
            USING (stack_id) WHERE s.file IS NOT NULL) GROUP BY file""").fetchall()))
compare("arenas", take(rows("arenas", "all"), "arena", "allocations", "objects", "bytes", "live_bytes", "peak_bytes"),
        database.execute("""SELECT name, allocations, objects, bytes, live_bytes, peak_bytes FROM arena
            WHERE allocations > 0""").fetchall())
# The changes from the peak to the end: most of them are less than before.
LIVE_AT = "(h.alloc_ns <= {0} AND (h.free_ns IS NULL OR h.free_ns > {0}))"
compare("diff", take(rows("diff", "all", "g", "type peak end", "Enter"), "type", "net_bytes", "from_bytes", "to_bytes", "net_count"),
        whole(database.execute(f"""SELECT * FROM (SELECT coalesce(type, '(unknown)'), total(size * b) - total(size * a) AS net,
            total(size * a), total(size * b), total(b) - total(a) FROM (SELECT h.*, {LIVE_AT.format(peak_ns)} AS a,
            {LIVE_AT.format(end)} AS b FROM heap h) GROUP BY 1) WHERE net <> 0""").fetchall()))
compare("range", take(rows("timeline", "all", "v", "type peak end", "Enter"), "type", "net_bytes", "bytes", "freed_bytes", "to_bytes"),
        whole(database.execute(f"""SELECT * FROM (SELECT coalesce(type, '(unknown)'), total(size * b) - total(size * a),
            total(size * (alloc_ns > {peak_ns} AND alloc_ns <= {end})) AS born,
            total(size * (free_ns > {peak_ns} AND free_ns <= {end})) AS died, total(size * b)
            FROM (SELECT h.*, {LIVE_AT.format(peak_ns)} AS a, {LIVE_AT.format(end)} AS b FROM heap h) GROUP BY 1)
            WHERE born > 0 OR died > 0""").fetchall()))
# One name for one thing: the names of all columns are those of the table in docs/tables.md.
page = open(os.path.join(os.path.dirname(sys.argv[0]), "../../docs/tables.md")).read().split("## Columns of files")[1]
known = {name for line in page.splitlines() if line.startswith("| `") for name in line.split("|")[1].replace("`", "").replace(" ", "").split(",")}
used = set()
# In each view but those named here, the rows share out all allocations: a column that sums them up
# has the sum that SQL has. A column about rows that overlap has another name, total_ before it.
SHARED = {"bytes": "sum(size)", "allocations": "count(*)", "live_bytes": "total(size * (free_ns IS NULL))",
          "live_count": "total(free_ns IS NULL)", "at_peak_bytes": "total(size * at_peak)", "at_peak_count": "total(at_peak)"}
whole_sums = dict(zip(SHARED, whole(database.execute(f"SELECT {', '.join(SHARED.values())} FROM heap"))[0]))
TWICE = {"threads"}  # a process, and its threads
OTHERS = {"overview": "findings overlap", "arenas": "not of the heap"}
PART = {"functions": "no row of what has no call site", "lines": "those of one file"}
# Some programs have nothing of these; the other views have rows of each program.
MAY_BE_EMPTY = {"arenas", "holes"}
if not database.execute("SELECT 1 FROM v_stack WHERE file IS NOT NULL LIMIT 1").fetchone():
    MAY_BE_EMPTY |= {"source", "lines", "live lines"}
AT_TIME = {"timeline": ("live_bytes", "live_count"), "range": ("bytes",)}  # at the end of each column, in the range
tables = {}
for name, view, *keys in (("overview", "overview"), ("timeline", "timeline"), ("range", "timeline", "v", "type start peak", "Enter"),
                          ("memory", "memory"), ("holes", "memory", "p", "h"), ("tree", "tree", "e"),
                          ("bottom-up", "tree", "b", "b", "e"), ("functions", "functions", "S"), ("types", "types"), ("leaks", "leaks"),
                          ("allocations", "allocations"), ("sizes", "sizes"), ("classes", "sizes", "C"),
                          ("lifetimes", "lifetimes"), ("threads", "threads"), ("arenas", "arenas"), ("source", "source", "S"),
                          ("lines", "source", "S", "Enter"), ("live lines", "source", "S", "B", "Enter"), ("diff", "diff"),
                          ("diff by path", "diff", "b", "b", "b"), ("graphs", "graphs")):
    if name == "allocations" and whole_sums["allocations"] > 50000:
        continue  # too long for :w
    tables[name] = table = rows(view, "all", *keys)
    if not table and name not in MAY_BE_EMPTY:
        print(f"{name}: no rows")
        differences += 1
    used |= {column.split(": ")[0] for row in table[:1] for column in row}
    for column in SHARED:
        if not table or column not in table[0] or name in OTHERS or column in AT_TIME.get(name, ()):
            continue
        got, wanted = sum(int(row[column] or 0) for row in table), whole_sums[column] * (2 if name in TWICE else 1)
        lines += 1
        if got > wanted or (got < wanted and name not in PART and name != "live lines"):
            print(f"{column} of {name}: {got}, but all have {wanted}")
            differences += 1
of_functions = {row["function"]: row for row in tables["functions"]}
for row in tables["tree"]:
    for column in ("total_bytes", "total_allocations", "total_at_peak_bytes"):
        lines += 1
        if row["function"] in of_functions and int(row[column]) > int(of_functions[row["function"]][column]):
            print(f"{column} of {row['function']}: more in the tree than in functions")
            differences += 1
for row in tables["overview"]:
    held = row["part"].startswith("at the peak")
    if held != bool(row["held_bytes"]) or held == bool(row["bytes"]) and row["part"] != "the session":
        print("overview:", row)
        differences += 1
if sum(int(row["total_bytes"]) for row in tables["tree"] if row["level"] == "1") > whole_sums["bytes"]:
    print("the outermost rows of the tree have more than all")
    differences += 1
unknown = {name for name in used if name.removeprefix("total_") not in known}
if unknown:
    print("columns that docs/tables.md does not have:", sorted(unknown))
    differences += 1
print(f"{lines} lines compared")
sys.exit(differences > 0)
