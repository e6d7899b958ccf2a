#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""reference.py PRINT_GRAPH SESSION COUNT [SEED [COPY]]: runs COUNT random filter graphs on a session, by the
session library and by SQL on the session's tables, and compares the results row by row. The SQL follows
schemas/filter-language.md and shares no code with the library. COPY is a copy of the session, which graphs
use as another session. If XDG_CONFIG_HOME is set, some graphs are stored there and used by name. Prints
each difference with its graph; exit status 1 if there is one. PRINT_GRAPH "-": prints the graphs alone, as
JSON."""
import bisect
import functools
import json
import math
import os
import random
import re
import sqlite3
import subprocess
import sys

program, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
copy = sys.argv[5] if len(sys.argv) > 5 else None
rng = random.Random(seed)

db = sqlite3.connect(":memory:")
db.text_factory = lambda raw: raw.decode(errors="surrogateescape")
db.execute("ATTACH ? AS s", (path,))
db.create_function("matches", 2, lambda text, pattern: text is not None and
                   re.search(pattern, text) is not None, deterministic=True)
meta = dict(db.execute("SELECT key, value FROM s.meta"))


def number(key):
    return int(meta.get(key) or 0)


start, duration, peak_ns, selected = 0, number("duration_ns"), number("peak_ns"), number("selected_process")
if selected:
    start, duration, peak_ns = db.execute("SELECT start_ns, end_ns, peak_ns FROM s.process WHERE id = ?", (selected,)).fetchone()
if number("machines") > 1:
    sys.exit("reference.py knows sessions of one machine only")
interval = number("sample_interval")


def weight(size):
    return 1 / (1 - math.exp(-max(size, 1) / interval)) if interval else 1.0


def weigh_count(row, size):
    if not interval:
        return 1
    fraction = ((row - 1) * 0x9E3779B97F4A7C15 % 2**64) >> 11
    return math.floor(weight(size) + fraction / 2**53)


db.create_function("weigh_count", 2, weigh_count, deterministic=True)
db.create_function("weigh_bytes", 1, lambda size: math.floor(weight(size) * size + 0.5), deterministic=True)

# Everything that a graph can test, one row for each allocation. NULL is the language's null.
db.executescript(f"""
CREATE TEMP TABLE site AS SELECT st.id AS stack, min(sf.depth) AS depth FROM s.stack st
  JOIN s.stack_frame sf ON sf.stack_id = st.id AND sf.frame_id = st.call_site_frame_id GROUP BY st.id;
CREATE TEMP TABLE place AS SELECT sf.stack_id AS stack, sf.depth - site.depth AS outward, f.name AS name
  FROM s.stack_frame sf JOIN site ON site.stack = sf.stack_id JOIN s.frame fr ON fr.id = sf.frame_id
  JOIN s.function f ON f.id = fr.function_id AND f.id > 0;
CREATE INDEX place_stack ON place(stack, outward);
CREATE TEMP TABLE named AS SELECT sf.stack_id AS stack, f.name AS name FROM s.stack_frame sf
  JOIN s.frame fr ON fr.id = sf.frame_id JOIN s.function f ON f.id = fr.function_id AND f.id > 0;
CREATE INDEX named_stack ON named(stack);
CREATE TEMP TABLE r AS SELECT a.id AS id, a.size AS size, a.count AS count, a.address AS address,
  a.alloc_ns AS alloc_time, a.free_ns AS free_time,
  max(0, coalesce(a.free_ns, {duration}) - a.alloc_ns) AS lifetime,
  a.free_ns IS NOT NULL AS freed, ty.name AS type, coalesce(ty.confidence, 'unknown') AS confidence,
  f.name AS function, s.path AS file, nullif(fr.line, 0) AS line, m.name AS module,
  nullif(a.stack_id, 0) AS stack, nullif(a.free_stack_id, 0) AS free_stack, a.thread_id AS thread,
  nullif(a.free_thread_id, 0) AS free_thread, coalesce(a.free_thread_id <> a.thread_id, 0) AS crossed,
  coalesce(nullif(th.name, ''), 'thread ' || a.thread_id) AS thread_name,
  nullif(th.process_id, 0) AS process, nullif(a.arena_id, 0) AS arena, k.name AS kind,
  (SELECT name FROM s.arena WHERE id = a.arena_id) AS arena_name, p.pid AS pid,
  replace(p.program, rtrim(p.program, replace(p.program, '/', '')), '') AS program,
  (SELECT name FROM place WHERE stack = a.stack_id AND outward = 1) AS caller,
  (SELECT name FROM place WHERE stack = a.stack_id AND outward = 2) AS frame2,
  uf.name AS user, ow.name AS owner, a.stack_id IN (SELECT stack_id FROM s.runtime_stack) AS kept,
  weigh_count(a.id, a.size) AS wc, weigh_bytes(a.size) AS wb
  FROM s.allocation a JOIN s.kind k ON k.id = a.kind LEFT JOIN s.type ty ON ty.id = a.type_id
  LEFT JOIN s.thread th ON th.id = a.thread_id LEFT JOIN s.process p ON p.id = th.process_id
  LEFT JOIN s.stack st ON st.id = a.stack_id LEFT JOIN s.frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN s.function f ON f.id = st.function_id AND f.id > 0
  LEFT JOIN s.source_file s ON s.id = fr.source_file_id LEFT JOIN s.module m ON m.id = fr.module_id
  LEFT JOIN s.frame ufr ON ufr.id = st.user_frame_id LEFT JOIN s.function uf ON uf.id = ufr.function_id AND uf.id > 0
  LEFT JOIN s.owner ow ON ow.id = st.owner_id;
CREATE UNIQUE INDEX r_id ON r(id);
""")
marks = [(name, ns) for name, ns in db.execute("SELECT name, min(ns) FROM s.mark WHERE name <> '' GROUP BY name")
         if not selected]


def values(column, most=40):
    return [v for v, in db.execute(f"SELECT {column} FROM r WHERE {column} IS NOT NULL GROUP BY 1 "
                                   f"ORDER BY hex(randomblob(0)), {column} LIMIT 4000")][::1][:4000][:: max(1, 1)][:most * 100]


POOL = {c: values(c) for c in ("size", "count", "address", "id", "line", "type", "function", "caller", "frame2",
                               "file", "module", "kind", "user", "owner", "stack", "free_stack", "thread_name", "thread",
                               "free_thread", "alloc_time", "lifetime", "arena", "pid")}


# A session without the answers of ingest, as the synthetic ones are, has them computed from its frames.
OWN = [(name, name) for name in ("user", "owner") if POOL[name]]


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def sql(text):
    return "'" + text.replace("'", "''") + "'"


def pick(column, otherwise):
    return rng.choice(POOL[column]) if POOL[column] else otherwise


# ---- values: each gives its text and its number ----

def duration_value():
    if rng.random() < 0.2:
        (a, x), (b, y) = named_moment(), named_moment()
        return f"({a}) - ({b})" if rng.random() < 0.5 else f"{a} - ({b})", x - y
    value = pick("lifetime", 1000)
    if rng.random() < 0.3:
        return f"{value // 1000}us", value // 1000 * 1000
    return f"{value}ns", value


def named_moment():
    if marks and rng.random() < 0.3:
        name, ns = rng.choice(marks)
        return quote(name), ns
    return rng.choice((("start", start), ("peak", peak_ns), ("end", duration)))


def moment():
    kind = rng.random()
    if kind < 0.35:
        value = pick("alloc_time", 5)
        return (f"{value}ns", value) if kind < 0.2 else (f"{value // 1000}us", value // 1000 * 1000)
    if kind < 0.45:
        percent = rng.randrange(101)
        return f"{percent}%", start + (duration - start) * percent // 100
    return named_moment()


def time_value():
    text, value = moment()
    if rng.random() < 0.25:
        by = pick("lifetime", 10)
        plus = rng.random() < 0.5
        return f"{text} {'+' if plus else '-'} {by}ns", value + by if plus else value - by
    return text, value


def compare(name, column, text, value):
    op = rng.choice(("==", "!=", "<", "<=", ">", ">="))
    other = {"==": "=", "!=": "<>"}.get(op, op)
    return f"{name} {op} {text}", f"coalesce({column} {other} {value}, 0)"


def between(name, column, a, b):
    return f"{name} in {a[0]}..{b[0]}", f"coalesce({column} BETWEEN {a[1]} AND {b[1]}, 0)"


def pattern(text):
    words = re.findall(r"[A-Za-z]{2,}", text or "") or ["a"]
    word = rng.choice(words)
    return rng.choice((word[:3], "^" + word[:2], word[-2:] + "$", f"({word[:2]}|zz)", "[a-m]" + word[1:2]))


def ranged(name, column, draw):
    if rng.random() < 0.3:
        a, b = draw(), draw()
        return between(name, column, *((a, b) if a[1] <= b[1] or rng.random() < 0.1 else (b, a)))
    return compare(name, column, *draw())


def plain(column):
    return lambda: (lambda v: (str(v), v))(pick(column, 1))


def size_value():
    value = pick("size", 1)
    if rng.random() < 0.2:
        return f"{value // 1024}K", value // 1024 * 1024
    return str(value), value


def text_test(name, column, pool):
    value = pick(pool, "nothing")
    kind = rng.random()
    if kind < 0.15:
        return f"{name} is null", f"{column} IS NULL"
    if kind < 0.3:
        return f"{name} is not null", f"{column} IS NOT NULL"
    if kind < 0.65:
        equal = kind < 0.5
        compared = column
        if name == "file" and "/" in value and rng.random() < 0.5:
            value = value.rsplit("/", 1)[1]
        if name == "file" and "/" not in value:
            compared = f"replace({column}, rtrim({column}, replace({column}, '/', '')), '')"
        return (f"{name} {'==' if equal else '!='} {quote(value)}",
                f"coalesce({compared} {'=' if equal else '<>'} {sql(value)}, 0)")
    expression = pattern(value)
    yes = kind < 0.85
    return (f"{name} {'~' if yes else '!~'} {quote(expression)}",
            f"({column} IS NOT NULL AND {'' if yes else 'NOT '}matches({column}, {sql(expression)}))")


def stack_test(name, column):
    kind = rng.random()
    value = pick("function", "nothing")
    if kind < 0.2:
        return f"{name} is {'not ' if kind < 0.1 else ''}null", f"{column} IS {'NOT ' if kind < 0.1 else ''}NULL"
    if kind < 0.4:
        stack = pick("stack", 1)
        return f"{name} == {stack}", f"coalesce({column} = {stack}, 0)"
    if kind < 0.7:
        return (f"{name} has {quote(value)}",
                f"coalesce({column} IN (SELECT stack FROM named WHERE name = {sql(value)}), 0)")
    expression = pattern(value)
    yes = kind < 0.9
    inside = f"{column} IN (SELECT stack FROM named WHERE matches(name, {sql(expression)}))"
    return (f"{name} {'~' if yes else '!~'} {quote(expression)}",
            f"coalesce({column} IS NOT NULL AND {'' if yes else 'NOT '}{inside}, 0)")


def id_test(name, column, names, ids):
    if rng.random() < 0.5 or not POOL[ids]:
        return text_test(name, names, "thread_name")
    value = rng.choice(POOL[ids])
    equal = rng.random() < 0.5
    return f"{name} {'==' if equal else '!='} {value}", f"coalesce({column} {'=' if equal else '<>'} {value}, 0)"


def color_test(column):
    kind = rng.random()
    if kind < 0.4:
        return f"color is {'not ' if kind < 0.2 else ''}null", f"{column} IS {'NOT ' if kind < 0.2 else ''}NULL"
    value = rng.choice(COLORS)
    return f"color {'==' if kind < 0.7 else '!='} {value}", f"coalesce({column} {'=' if kind < 0.7 else '<>'} {value}, 0)"


# ---- snapshots of references: of each process the one nearest to a time, None: the last ----

snapshots = {}
for id, process, ns in db.execute("SELECT id, process_id, ns FROM s.heap_snapshot ORDER BY process_id, ns, id"):
    snapshots.setdefault(process, []).append((id, ns))
if selected and selected not in snapshots:
    snapshots = {}
dominators = [1, *(id for id, in db.execute("SELECT DISTINCT dominator_id FROM s.retained WHERE dominator_id > 0 ORDER BY 1"))] \
    if snapshots else []
one_snapshot = snapshots and all(len(of) == 1 for of in snapshots.values())


def chosen(at):
    """The ids of the snapshots that count, for SQL."""
    return "(" + ", ".join(str(of[-1][0] if at is None else min(reversed(of), key=lambda one: abs(one[1] - at))[0])
                           for of in snapshots.values()) + ")"


@functools.cache
def facts(at):
    return {id: fact for id, *fact in db.execute(f"""SELECT allocation_id,
      CASE state WHEN 0 THEN 'unknown' WHEN 1 THEN 'reachable' WHEN 2 THEN 'possibly' ELSE 'unreachable' END, bytes, referrers,
      iif(dominator_id > 0, dominator_id, NULL),
      state = 1 AND EXISTS(SELECT 1 FROM s.reference x WHERE x.snapshot_id = t.snapshot_id AND x.to_id = t.allocation_id
                           AND x.from_id < 0 AND x.doubt = 0)
      FROM s.retained t WHERE snapshot_id IN {chosen(at)}""")}


db.create_function("fact", 3, lambda id, at, which: facts(at).get(id, (None,) * 5)[which], deterministic=True)


def snapshot_test(at):
    """A test of what a snapshot says about blocks."""
    moment = "NULL" if at is None else at
    kind = rng.random()
    if kind < 0.1:
        return compare("dominator", f"fact(r.id, {moment}, 3)", *(lambda id: (str(id), id))(rng.choice(dominators)))
    if kind < 0.3:
        return compare("references", f"fact(r.id, {moment}, 2)", *(lambda n: (str(n), n))(rng.choice((0, 1, 2, 3))))
    if kind < 0.5:
        return ranged("retained", f"fact(r.id, {moment}, 1)", size_value)
    word, root = f"fact(r.id, {moment}, 0)", f"fact(r.id, {moment}, 4)"
    if kind < 0.6:
        negative = rng.random() < 0.5
        return f"reachability is {'not ' if negative else ''}null", f"{word} IS {'NOT ' if negative else ''}NULL"
    value = rng.choice(("unknown", "reachable", "possibly", "unreachable", "root"))
    yes = rng.random() < 0.6
    if kind < 0.85:
        fits = f"({word} = {sql(value)} OR {root} = 1 AND {sql(value)} = 'root')"
    else:
        value = rng.choice(("reach", "^reach", "r", "^root$", "i"))
        fits = f"(matches({word}, {sql(value)}) OR {root} = 1 AND matches('root', {sql(value)}))"
    op = ("==" if yes else "!=") if kind < 0.85 else ("~" if yes else "!~")
    return f"reachability {op} {value if kind < 0.85 else quote(value)}", f"({word} IS NOT NULL AND {'' if yes else 'NOT '}{fits})"


def make_snapshot():
    """Blocks by what a snapshot says, or by references from and to those of another set."""
    at = None
    text, condition = rng.choice((("all", "1"), ("live", "r.free_time IS NULL"), ("leaked", "r.free_time IS NULL AND NOT r.kept")))
    if rng.random() < 0.5:
        moment, ns = time_value()
        text, condition = ("live at end", "r.free_time IS NULL") if moment == "end" else (f"live at ({moment})", live_at(ns))
        at = None if moment == "end" else max(ns, 0)
    set_run = base(condition)
    if rng.random() < 0.5:
        tests, down = predicate(lambda: snapshot_test(at), 1), rng.choice((None, "", " asc", " desc"))
        field, which = rng.choice((("reachability", 0), ("retained", 1), ("references", 2), ("dominator", 3)))
        key = f"fact(r.id, {'NULL' if at is None else at}, {which})"
        order = "r.id" if down is None else f"{key} IS NULL, {key}{' DESC' if down == ' desc' else ''}, r.id"
        return (f"{text} | where {tests[0]}" + ("" if down is None else f" | sort {field}{down}"),
                lambda: Allocations(keep(f"SELECT r.id AS id, x.color AS color {set_run().rows()} WHERE {tests[1]}"), order))
    step = rng.choice(("held by", "holds", "retained by"))
    inner_text, inner = make_pipeline(1)

    def run():
        of = inner().table
        found = {"held by": f"SELECT to_id FROM s.reference WHERE snapshot_id IN {chosen(at)} AND from_id IN (SELECT id FROM {of})",
                 "holds": f"SELECT from_id FROM s.reference WHERE snapshot_id IN {chosen(at)} AND to_id IN (SELECT id FROM {of})",
                 "retained by": f"""WITH RECURSIVE below(id, snapshot) AS (SELECT allocation_id, snapshot_id FROM s.retained
                   WHERE snapshot_id IN {chosen(at)} AND allocation_id IN (SELECT id FROM {of}) UNION
                   SELECT d.allocation_id, snapshot FROM below JOIN s.retained d ON d.dominator_id = below.id AND d.snapshot_id = snapshot)
                   SELECT id FROM below"""}[step]
        return Allocations(keep(f"SELECT r.id AS id, x.color AS color {set_run().rows()} WHERE r.id IN ({found})"))
    return f"{text} | {step} ({inner_text})", run


COLORS = (3, 17, 200)
uses = set()  # of the graph that is being made: fields that change the meaning of all sets


def field_test():
    if one_snapshot and rng.random() < 0.1:
        return snapshot_test(None)
    kind = rng.randrange(25)
    if kind < 5:
        return ranged("size", "r.size", size_value)
    if kind == 5:
        return ranged("count", "r.count", plain("count"))
    if kind == 6:
        return ranged("line", "r.line", plain("line"))
    if kind == 7:
        return ranged("id", "r.id", plain("id"))
    if kind == 8:
        return ranged("address", "r.address", plain("address"))
    if kind in (9, 10):
        return ranged("alloc_time", "r.alloc_time", time_value)
    if kind == 11:
        return ranged("free_time", "r.free_time", time_value)
    if kind in (12, 13):
        return ranged("lifetime", "r.lifetime", duration_value)
    if kind == 14:
        name = rng.choice(("freed", "crossed"))
        yes = rng.random() < 0.5
        return f"{name} == {'true' if yes else 'false'}", f"r.{name} = {int(yes)}"
    if kind == 15:
        return id_test("thread", "r.thread", "r.thread_name", "thread")
    if kind == 16:
        return stack_test(*rng.choice((("stack", "r.stack"), ("free_stack", "r.free_stack"))))
    if kind == 17:
        return color_test("x.color")
    if kind == 18 and rng.random() < 0.3:
        uses.add("arena")
        return rng.choice((("arena is null", "r.arena IS NULL"), ("arena is not null", "r.arena IS NOT NULL")))
    if kind == 19 and rng.random() < 0.3 and POOL["pid"]:
        uses.add("process")
        pid = rng.choice(POOL["pid"])
        return f"process == {pid}", f"coalesce(r.pid = {pid}, 0)"
    if kind == 20:
        value = rng.choice(("exact", "inferred", "unknown"))
        return f"confidence == {value}", f"r.confidence = {sql(value)}"
    name, column = rng.choice((("type", "type"), ("function", "function"), ("caller", "caller"), ("frame 2", "frame2"),
                               ("file", "file"), ("module", "module"), ("kind", "kind"), *OWN))
    return text_test(name, "r." + column, column)


def predicate(test, depth=2):
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return test()
    if kind < 0.65:
        text, condition = predicate(test, depth - 1)
        return f"not ({text})", f"NOT ({condition})"
    word = rng.choice(("and", "or"))
    a, b = predicate(test, depth - 1), predicate(test, depth - 1)
    return f"({a[0]}) {word} ({b[0]})", f"(({a[1]}) {word.upper()} ({b[1]}))"


# ---- sets and steps: tables of (id, color) with an order ----

tables = 0


def keep(query):
    global tables
    tables += 1
    name = f"t{tables}"
    db.execute(f"CREATE TEMP TABLE {name} AS {query}")
    db.execute(f"CREATE INDEX {name}_id ON {name}(id)")
    return name


class Allocations:
    def __init__(self, table, order="r.id"):
        self.table, self.order = table, order

    def rows(self):
        return f"FROM {self.table} x JOIN r ON r.id = x.id"

    def result(self):
        return [str(i) for i, in db.execute(f"SELECT r.id {self.rows()} ORDER BY {self.order}")]


def live_at(ns):
    return f"(r.alloc_time <= {ns} AND (r.free_time IS NULL OR r.free_time > {ns}))"


# A graph is first made as a tree of choices, (text, run), since the fields that it names change its sets.
def base(condition):
    def run():
        limits = [condition]
        if "arena" not in uses:
            limits.append("r.arena IS NULL")
        if "process" not in uses and selected:
            limits.append(f"r.process = {selected}")
        return Allocations(keep(f"SELECT r.id AS id, NULL AS color FROM r WHERE {' AND '.join(limits)}"))
    return run


def make_term(depth):
    kind = rng.random()
    if folder and depth > 0 and rng.random() < 0.12:
        return make_stored(depth)
    if kind < 0.35:
        return "all", base("1")
    if kind < 0.45:
        return rng.choice(("live", "live at end")), base("r.free_time IS NULL")
    if kind < 0.55:
        return "leaked", base("r.free_time IS NULL AND NOT r.kept")
    if snapshots and kind < 0.6:
        word = rng.choice(("unreachable", "possibly"))
        return word, base(f"coalesce(fact(r.id, NULL, 0) = {sql(word)}, 0)")
    if kind < 0.75 or depth == 0:
        text, value = time_value()
        if text == "end":
            return "live at end", base("r.free_time IS NULL")
        return f"live at ({text})", base(live_at(value))
    text, run = make_pipeline(depth - 1)
    return f"({text})", run


def make_set(depth):
    text, run = make_term(depth)
    while rng.random() < 0.25:
        sign = rng.choice("+&-")
        other_text, other = make_term(depth)
        text, run = f"{text} {sign} {other_text}", combine(run, sign, other)
    return text, run


def combine(left_run, sign, right_run):
    def run():
        a, b = left_run().table, right_run().table
        if sign == "-":
            return Allocations(keep(f"SELECT id, color FROM {a} WHERE id NOT IN (SELECT id FROM {b})"))
        both = f"SELECT a.id AS id, coalesce(a.color, b.color) AS color FROM {a} a LEFT JOIN {b} b ON b.id = a.id"
        if sign == "&":
            return Allocations(keep(both + " WHERE b.id IS NOT NULL"))
        return Allocations(keep(f"{both} UNION ALL SELECT id, color FROM {b} WHERE id NOT IN (SELECT id FROM {a})"))
    return run


# ---- pins ----

def alone(start, end, below, above):
    """SQL: a block may have a mapping of its own."""
    size, offset = f"({end} - {start})", f"({start} & 4095)"
    return (f"(({offset} = 16 AND {size} >= 131049 OR {offset} = 0 AND {size} + ({start} & -{start}) >= pages OR {offset} >= 32 "
            f"AND ({offset} & ({offset} - 1)) = 0 AND {size} + {offset} >= 131049) AND ifnull({below}, 0) <= (({start} - 16) & ~4095) "
            f"AND ifnull(({above} - 16) >> 12 <> ({end} - 1) >> 12, 1))")


def pages(live):
    """SQL: the least size of a mapped block that begins with a page, by the live blocks that show where they lie."""
    return (f"(SELECT coalesce(1024 * (max(k) + 1), 0) FROM (SELECT k, sum(n) OVER v AS n, sum(m) OVER v AS m FROM (SELECT max(size, 1) / 1024 AS k,"
            f" count(*) AS n, sum(o >= 16 AND (o & (o - 1)) = 0) AS m FROM (SELECT r.size AS size, r.address & 4095 AS o FROM r"
            f" WHERE {live} AND r.size < 130048) WHERE o > 0 GROUP BY 1) WINDOW v AS (ORDER BY k DESC)) WHERE n - m >= 4 AND 2 * m <= n)")


def gap_unknown(below_below, below_start, below_end, above_start, above_end, above_above):
    """SQL: nobody knows what lies between two blocks of the heap."""
    return (f"(({below_end} - 1) >> 26 <> {above_start} >> 26 OR {alone(below_start, below_end, below_below, above_start)} "
            f"OR {alone(above_start, above_end, below_end, above_above)})")


def make_pins():
    """Blocks that were live at one time, by the gaps beside them."""
    if rng.random() < 0.3:
        text, live = rng.choice((("live", "r.free_time IS NULL"), ("leaked", "r.free_time IS NULL")))
        condition = live + (" AND NOT r.kept" if text == "leaked" else "")
    else:
        at, ns = time_value()
        text = "live at end" if at == "end" else f"live at ({at})"
        live = condition = "r.free_time IS NULL" if at == "end" else live_at(ns)
    limit = rng.choice((0, 1, 16, 32, 100, 1000, 4096, 100000, 1 << 24))
    op = rng.choice(("==", "!=", "<", "<=", ">", ">="))
    down = rng.choice((None, "", " asc", " desc"))
    set_run = base(condition)

    def run():
        gap = f"CASE WHEN {{0}} BETWEEN 0 AND {(1 << 24) - 1} AND NOT (heap AND {{1}}) THEN {{0}} ELSE 0 END"
        below, above = gap_unknown("pp", "pa", "p", "a", "e", "n"), gap_unknown("p", "a", "e", "n", "ne", "nn")
        pins = keep(f"""SELECT id, {gap.format("a - p", below)} + {gap.format("n - e", above)} AS pins FROM
          (SELECT r.id AS id, r.address AS a, r.address + max(r.size, 1) AS e, coalesce(r.arena, 0) = 0 AS heap,
            lag(r.address) OVER w AS pa, lag(r.address + max(r.size, 1)) OVER w AS p,
            lag(r.address + max(r.size, 1), 2) OVER w AS pp, lead(r.address) OVER w AS n,
            lead(r.address + max(r.size, 1)) OVER w AS ne, lead(r.address, 2) OVER w AS nn, {pages(live)} AS pages FROM r WHERE {live}
            WINDOW w AS (PARTITION BY coalesce(r.process, 0), coalesce(r.arena, 0) ORDER BY r.address, r.id))""")
        of_row = f"(SELECT pins FROM {pins} WHERE id = r.id)"
        other = {"==": "=", "!=": "<>"}.get(op, op)
        order = "r.id" if down is None else f"{of_row}{' DESC' if down == ' desc' else ''}, r.id"
        return Allocations(keep(f"SELECT r.id AS id, x.color AS color {set_run().rows()} WHERE {of_row} {other} {limit}"), order)
    return f"{text} | where pins {op} {limit}" + ("" if down is None else f" | sort pins{down}"), run


# ---- resident ----

readings = {}
for id, process, ns in db.execute("SELECT id, process_id, ns FROM s.residency ORDER BY process_id, ns, id"):
    readings.setdefault(process, []).append((id, ns))


def varints(data):
    number = shift = 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number = shift = 0


@functools.cache
def pages_in_memory(reading):
    """The intervals of addresses that a reading found in memory, by their beginnings and ends."""
    begins, ends = [], []
    for data, in db.execute("SELECT data FROM s.residency_run WHERE residency_id = ? ORDER BY position", (reading,)):
        numbers, page = list(varints(data)), 0
        for gap, code in zip(numbers[::2], numbers[1::2]):
            page += gap
            if code & 7 < 2:
                begins.append(page * 4096)
                ends.append((page + (code >> 3)) * 4096)
            page += code >> 3
    return begins, ends


def resident(process, address, size, born, freed, at):
    """What of a block was in memory at the reading nearest to a time; None if the block was not live then."""
    if process not in readings:
        return None
    reading, ns = min(reversed(readings[process]), key=lambda one: abs(one[1] - at))
    if born > ns or (freed is not None and freed <= ns):
        return None
    begins, ends = pages_in_memory(reading)
    total, i = 0, bisect.bisect_right(ends, address)
    while i < len(begins) and begins[i] < address + size:
        total += min(ends[i], address + size) - max(begins[i], address)
        i += 1
    return total


db.create_function("resident", 6, resident, deterministic=True)


def live_and_resident():
    """A set that was live at one time, the condition of it, and what of a block was in memory."""
    at, ns = time_value()
    end = at == "end"
    text, condition = ("live at end", "r.free_time IS NULL") if end else (f"live at ({at})", live_at(ns))
    return text, condition, f"resident(coalesce(r.process, 0), r.address, r.size, r.alloc_time, r.free_time, {max(ns, 0)})"


def make_resident():
    """Blocks that were live at one time, by what of them was in memory."""
    text, condition, of_row = live_and_resident()
    limit = rng.choice((0, 1, 16, 100, 4096, 100000))
    op = rng.choice(("==", "!=", "<", "<=", ">", ">=", "is null", "is not null"))
    test = op if op.startswith("is") else f"{op} {limit}"
    down = rng.choice((None, "", " asc", " desc"))
    set_run = base(condition)

    def run():
        where = test.replace("==", "=").replace("!=", "<>")
        order = "r.id" if down is None else f"{of_row} IS NULL, {of_row}{' DESC' if down == ' desc' else ''}, r.id"
        return Allocations(keep(f"SELECT r.id AS id, x.color AS color {set_run().rows()} WHERE {of_row} {where}"), order)
    return f"{text} | where resident {test}" + ("" if down is None else f" | sort resident{down}"), run


# ---- another session: a copy, whose rows have the same ids ----

if copy:
    db.executescript("""
CREATE TEMP TABLE stack_key AS SELECT stack_id AS stack, group_concat(hex(name), ';') AS names FROM
  (SELECT sf.stack_id, coalesce(f.name, '') || '@' || coalesce(m.name, '') AS name FROM s.stack_frame sf
   LEFT JOIN s.frame fr ON fr.id = sf.frame_id LEFT JOIN s.function f ON f.id = fr.function_id
   LEFT JOIN s.module m ON m.id = f.module_id ORDER BY sf.stack_id, sf.depth) GROUP BY stack_id;
CREATE UNIQUE INDEX stack_key_stack ON stack_key(stack);
CREATE TEMP TABLE multi AS SELECT r.id AS id, dense_rank() OVER (ORDER BY r.type, r.size, k.names) AS k
  FROM r LEFT JOIN stack_key k ON k.stack = r.stack;
CREATE UNIQUE INDEX multi_id ON multi(id);
""")


def combine_copy(left_run, sign, right_run):
    """a - b or a & b as multisets; of equal rows the first ones have a partner."""
    def run():
        a, b = left_run().table, right_run().table
        return Allocations(keep(f"""SELECT a.id AS id, a.color AS color FROM
          (SELECT x.id AS id, x.color AS color, k, row_number() OVER (PARTITION BY k ORDER BY x.id) AS n
            FROM {a} x JOIN multi ON multi.id = x.id) a
          LEFT JOIN (SELECT k, count(*) AS partners FROM {b} y JOIN multi ON multi.id = y.id GROUP BY k) b USING (k)
          WHERE n {'>' if sign == '-' else '<='} coalesce(partners, 0)"""))
    return run


def make_copied():
    text, run = make_term(1)
    kind = rng.random()
    if kind < 0.3:
        there, other = rng.choice((("", "1"), (".all", "1"), (".live", "r.free_time IS NULL"),
                                   (".leaked", "r.free_time IS NULL AND NOT r.kept")))
        other_run = base(other)
    else:
        first, condition = rng.choice((("all", "1"), ("live", "r.free_time IS NULL"), ("live at peak", live_at(peak_ns))))
        test, tested = rng.choice((lambda: ranged("size", "r.size", size_value), lambda: ranged("lifetime", "r.lifetime", duration_value),
                                   lambda: text_test("type", "r.type", "type"), lambda: text_test("function", "r.function", "function")))()
        there, before = f".({first} | where {test})", base(condition)
        other_run = lambda: (lambda s: Allocations(keep(
            f"SELECT r.id AS id, NULL AS color {s.rows()} WHERE {tested}")))(before())
    sign = rng.choice("-&")
    return f'{text} {sign} session "{copy}"{there}', combine_copy(run, sign, other_run)


# ---- saved filters ----

folder = os.path.join(os.environ["XDG_CONFIG_HOME"], "mprof", "graphs") if os.environ.get("XDG_CONFIG_HOME") else None
if folder:
    os.umask(0o077)
    os.makedirs(folder, exist_ok=True)
stored = 0


def store(text):
    """Stores a text, which may have its name as NAME. Returns the name."""
    global stored
    stored += 1
    name = f"stored_{seed}_{stored}" if program == "-" else f"stored_{stored % 500}"
    with open(os.path.join(folder, name + ".graph"), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("# A random graph.\n" + text.replace("NAME", name) + "\n")
    return name


def make_stored(depth):
    if rng.random() < 0.3:
        a, b = sorted((size_value(), size_value()), key=lambda v: v[1])
        name = store("NAME(A, B) = all | where size >= A and size < B;")
        return f"{name}({a[0]}, {b[0]})", base(f"r.size >= {a[1]} AND r.size < {b[1]}")
    text, run = make_pipeline(depth - 1)
    if rng.random() < 0.3:
        text = f"inner = {text}; inner"
    return store(text), run


SORTS = {"size": "r.size", "count": "r.count", "address": "r.address", "alloc_time": "r.alloc_time",
         "free_time": "r.free_time", "lifetime": "r.lifetime", "type": "r.type", "function": "r.function",
         "file": "r.file", "line": "r.line", "id": "r.id", "kind": "r.kind", "caller": "r.caller"}
if one_snapshot:
    SORTS.update({"reachability": "fact(r.id, NULL, 0)", "retained": "fact(r.id, NULL, 1)", "references": "fact(r.id, NULL, 2)",
                  "dominator": "fact(r.id, NULL, 3)"})
SORTS.update({name: "r." + name for name, _ in OWN})


def make_step():
    kind = rng.random()
    if kind < 0.45:
        text, condition = predicate(field_test)
        return f"where {text}", lambda set_: Allocations(
            keep(f"SELECT r.id AS id, x.color AS color {set_.rows()} WHERE {condition}"), set_.order)
    if kind < 0.65:
        color = rng.choice(COLORS)
        text, condition = predicate(field_test, 1) if rng.random() < 0.7 else (None, "1")
        return f"color {color}" + (f" where {text}" if text else ""), lambda set_: Allocations(
            keep(f"SELECT r.id AS id, CASE WHEN {condition} THEN {color} ELSE x.color END AS color {set_.rows()}"),
            set_.order)
    if kind < 0.85:
        field = rng.choice(list(SORTS))
        down = rng.choice(("", " asc", " desc"))
        order = f"{SORTS[field]} IS NULL, {SORTS[field]}{' DESC' if down == ' desc' else ''}, r.id"
        return f"sort {field}{down}", lambda set_: Allocations(set_.table, order)
    limit = rng.choice((0, 1, 7, 100, 100000))
    return f"top {limit}", lambda set_: Allocations(
        keep(f"SELECT r.id AS id, x.color AS color {set_.rows()} ORDER BY {set_.order} LIMIT {limit}"), set_.order)


def make_pipeline(depth):
    kind = rng.random()
    if snapshots and rng.random() < 0.25:
        return make_snapshot()
    make = make_pins if kind < 0.08 else make_resident if readings and kind > 0.92 else (lambda: make_set(depth))
    text, run = make_copied() if copy and 0.08 <= kind < 0.16 and depth == 2 else make()
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        step_text, step = make_step()
        text, run = f"{text} | {step_text}", (lambda before, step: lambda: step(before()))(run, step)
    return text, run


# ---- groups ----

KEYS = {"size": "r.size", "count": "r.count", "type": "r.type", "confidence": "r.confidence", "function": "r.function",
        "caller": "r.caller", "frame 2": "r.frame2", "file": "r.file", "line": "r.line", "module": "r.module",
        "stack": "r.stack", "free_stack": "r.free_stack", "thread": "r.thread", "free_thread": "r.free_thread",
        "process": "r.process", "arena": "r.arena", "kind": "r.kind", "freed": "r.freed",
        "color": "x.color"}
if one_snapshot:
    KEYS["reachability"] = "fact(r.id, NULL, 0)"
KEYS.update({name: "r." + name for name, _ in OWN})
NAMES = {"thread": "r.thread_name", "arena": "r.arena_name", "process": "r.program",
         "free_thread": "(SELECT coalesce(nullif(name, ''), 'thread ' || id) FROM s.thread WHERE id = r.free_thread)"}
MEASURES = ["allocations", "bytes", "objects", "live_bytes", "live_count", "at_peak_bytes", "peak_bytes", "avg_size",
            "avg_lifetime", "min_size", "max_size", "min_lifetime", "max_lifetime", "first_time", "last_time", "born_over"]


class Groups:
    """A table g(group number, keys k0…, their names n0…, measures, color) and one of members."""

    def __init__(self, keys, table, members, order):
        self.keys, self.table, self.members, self.order = keys, table, members, order

    def result(self):
        columns = ", ".join([f"g.k{i}" for i in range(len(self.keys))] + ["g." + m for m in MEASURES] +
                            ["coalesce(g.color, -1)"])
        rows = db.execute(f"SELECT {columns} FROM {self.table} g ORDER BY {self.order}").fetchall()
        truths = [i for i, key in enumerate(self.keys) if key == "freed"]
        result = []
        for row in rows:
            cells = ["-" if v is None else str(v) for v in row]
            for i in truths:
                cells[i] = "true" if row[i] else "false"
            result.append("\t".join(cells))
        return result


def key_order(keys):
    parts = []
    for i, _ in enumerate(keys):
        parts += [f"g.k{i} IS NULL", f"g.n{i}", f"g.k{i}"]
    return ", ".join(parts)


# The functions of each stack from the root inwards to the call site. Names of functions are equal if their
# texts are.
PATHS = {}
for stack, depth, name, site in db.execute(
        "SELECT sf.stack_id, sf.depth, f.name, site.depth FROM s.stack_frame sf LEFT JOIN s.frame fr ON fr.id = sf.frame_id"
        " LEFT JOIN s.function f ON f.id = fr.function_id LEFT JOIN site ON site.stack = sf.stack_id"
        " ORDER BY sf.stack_id, sf.depth DESC"):
    if site is None or depth >= site:
        PATHS.setdefault(stack, []).append(name or "?")


def fold(set_, least):
    held = {}
    for row, stack, size in db.execute(f"SELECT r.id, r.stack, r.wb {set_.rows()}").fetchall():
        held.setdefault(tuple(PATHS.get(stack, ())), []).append((row, size))
    for depth in range(max(map(len, held), default=0), 0, -1):
        for path in [path for path in held if len(path) == depth]:
            if sum(size for _, size in held[path]) < least:
                held.setdefault(path[:-1], []).extend(held.pop(path))
    table = keep("SELECT 0 AS id, '' AS path, '' AS name WHERE 0")
    for path, blocks in held.items():
        name = (";".join(path), "\x01".join(path)) if path else (None, None)
        db.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", [(row, *name) for row, _ in blocks])
    KEYS["path"] = f"(SELECT path FROM {table} WHERE id = r.id)"
    NAMES["path"] = f"(SELECT name FROM {table} WHERE id = r.id)"
    try:
        return join(set_, ["path"])
    finally:
        del KEYS["path"], NAMES["path"]


def join(set_, keys):
    picked = ", ".join(f"{KEYS[k]} AS k{i}, {NAMES.get(k, '0')} AS n{i}" for i, k in enumerate(keys))
    names = ", ".join(f"k{i}" for i in range(len(keys)))
    live_now = live_at(peak_ns)
    first_color = ", x.color AS color"
    rows = keep(f"""SELECT r.id AS id{first_color}, dense_rank() OVER (ORDER BY {', '.join(KEYS[k] for k in keys)}) AS gid,
      {picked}, r.size AS size, r.count AS count, r.alloc_time AS alloc_time, r.free_time AS free_time,
      r.lifetime AS lifetime, r.wc AS wc, r.wb AS wb, {live_now} AS at_peak {set_.rows()}""")
    events = f"""SELECT gid, alloc_time AS ns, 1 AS late, wb AS change FROM {rows}
      UNION ALL SELECT gid, free_time, 0, -wb FROM {rows} WHERE free_time IS NOT NULL"""
    peaks = f"""SELECT gid, max(live) AS peak FROM (SELECT gid, sum(change) OVER
      (PARTITION BY gid ORDER BY ns, late, change ROWS UNBOUNDED PRECEDING) AS live FROM ({events})) GROUP BY gid"""
    first = "min(color)" if "color" in keys else "NULL"
    table = keep(f"""SELECT m.gid AS id, {names}, {', '.join(f'n{i}' for i in range(len(keys)))},
      sum(wc) AS allocations, sum(wb) AS bytes, sum(count * wc) AS objects,
      sum(CASE WHEN free_time IS NULL THEN wb ELSE 0 END) AS live_bytes,
      sum(CASE WHEN free_time IS NULL THEN wc ELSE 0 END) AS live_count, sum(at_peak * wb) AS at_peak_bytes,
      max(p.peak) AS peak_bytes, sum(wb) / sum(wc) AS avg_size, sum(lifetime * wc) / sum(wc) AS avg_lifetime,
      min(size) AS min_size, max(size) AS max_size, min(lifetime) AS min_lifetime, max(lifetime) AS max_lifetime,
      min(alloc_time) AS first_time, max(alloc_time) AS last_time, max(alloc_time) - min(alloc_time) AS born_over,
      {first} AS color FROM {rows} m JOIN ({peaks}) p ON p.gid = m.gid GROUP BY m.gid""")
    return Groups(keys, table, rows, f"g.bytes DESC, {key_order(keys)}")


def group_test(keys):
    def test():
        if rng.random() < 0.35:
            key = rng.randrange(len(keys))
            name, column = keys[key], f"g.k{key}"
            if name == "reachability":
                value = rng.choice(("unknown", "reachable", "possibly", "unreachable"))
                return f"reachability == {value}", f"coalesce({column} = {sql(value)}, 0)"
            if name in ("type", "function", "caller", "file", "module", "kind", "user", "owner", "confidence"):
                return text_test(name, column, name if name in POOL else "type")
            if name == "frame 2":
                return text_test(name, column, "frame2")
            if name == "path":
                return text_test(name, column, "function")
            if name in ("size", "count", "line"):
                return ranged(name, column, size_value if name == "size" else plain(name))
            if name == "stack":
                return stack_test(name, column)
            if name == "color":
                return color_test("g.color")
        measure = rng.choice(MEASURES)
        if measure.endswith("lifetime") or measure == "born_over":
            return ranged(measure, "g." + measure, duration_value)
        if measure.endswith("_time"):
            return ranged(measure, "g." + measure, time_value)
        if measure in ("allocations", "objects", "live_count"):
            return compare(measure, "g." + measure, *(lambda n: (str(n), n))(rng.choice((0, 1, 2, 5, 20, 300))))
        return ranged(measure, "g." + measure, size_value)
    return test


def make_group_step(keys):
    kind = rng.random()
    if kind < 0.4:
        text, condition = predicate(group_test(keys), 1)
        return f"where {text}", lambda set_: Groups(
            keys, keep(f"SELECT g.* FROM {set_.table} g WHERE {condition}"), set_.members, set_.order)
    if kind < 0.55:
        color = rng.choice(COLORS)
        text, condition = predicate(group_test(keys), 1) if rng.random() < 0.7 else (None, "1")
        columns = ", ".join(["g.id AS id"] + [f"g.k{i} AS k{i}, g.n{i} AS n{i}" for i in range(len(keys))] +
                            [f"g.{m} AS {m}" for m in MEASURES])
        return f"color {color}" + (f" where {text}" if text else ""), lambda set_: Groups(
            keys, keep(f"SELECT {columns}, CASE WHEN {condition} THEN {color} ELSE g.color END AS color "
                       f"FROM {set_.table} g"), set_.members, set_.order)
    if kind < 0.8:
        down = rng.choice(("", " asc", " desc"))
        direction = " DESC" if down == " desc" else ""
        if rng.random() < 0.3:
            key = rng.randrange(len(keys))
            order = f"g.k{key} IS NULL, g.n{key}{direction}, g.k{key}{direction}, {key_order(keys)}"
            return f"sort {keys[key]}{down}", lambda set_: Groups(keys, set_.table, set_.members, order)
        measure = rng.choice(MEASURES)
        order = f"g.{measure}{direction}, {key_order(keys)}"
        return f"sort {measure}{down}", lambda set_: Groups(keys, set_.table, set_.members, order)
    limit = rng.choice((0, 1, 3, 10, 1000))
    return f"top {limit}", lambda set_: Groups(
        keys, keep(f"SELECT g.* FROM {set_.table} g ORDER BY {set_.order} LIMIT {limit}"), set_.members, set_.order)


def ungroup(set_):
    return Allocations(keep(f"SELECT m.id AS id, coalesce(g.color, m.color) AS color FROM {set_.members} m "
                            f"JOIN {set_.table} g ON g.id = m.gid"))


# ---- measures: (name, value or None, parts) ----

def one(query):
    return db.execute(query).fetchone()


def measure_result(name, value, parts=()):
    return ["\t".join([name, "-" if value is None else str(value)] + [f"{k}={v}" for k, v in parts])]


def make_measure():
    kind = rng.random()
    if kind < 0.2:
        return "count", lambda s: measure_result("count", one(f"SELECT coalesce(sum(r.wc), 0) {s.rows()}")[0])
    if kind < 0.6:
        word = rng.choice(("sum", "avg", "min", "max"))
        if one_snapshot and rng.random() < 0.3:
            field, of = rng.choice((("retained", "fact(r.id, NULL, 1)"), ("references", "fact(r.id, NULL, 2)")))
            query = {"sum": f"coalesce(sum({of} * r.wc), 0)", "avg": f"sum({of} * r.wc) / sum(r.wc) FILTER (WHERE {of} IS NOT NULL)",
                     "min": f"min({of})", "max": f"max({of})"}[word]
            return f"{word} {field}", lambda s: measure_result(f"{word} {field}", one(f"SELECT {query} {s.rows()}")[0])
        field = rng.choice(("size", "count", "lifetime") + (("alloc_time", "line", "id") if word in ("min", "max") else ()))
        weighed = {"size": "r.wb", "count": "r.count * r.wc", "lifetime": "r.lifetime * r.wc"}
        query = {"sum": f"coalesce(sum({weighed.get(field)}), 0)", "avg": f"sum({weighed.get(field)}) / sum(r.wc)",
                 "min": f"min(r.{field})", "max": f"max(r.{field})"}[word]
        return f"{word} {field}", lambda s: measure_result(f"{word} {field}", one(f"SELECT {query} {s.rows()}")[0])
    if kind < 0.8:
        def peak(s):
            events = f"""SELECT r.alloc_time AS ns, 1 AS late, r.wb AS change {s.rows()}
              UNION ALL SELECT r.free_time, 0, -r.wb {s.rows()} WHERE r.free_time IS NOT NULL"""
            best = one(f"""SELECT live, ns FROM (SELECT ns, sum(change) OVER (ORDER BY ns, late, change
              ROWS UNBOUNDED PRECEDING) AS live FROM ({events})) ORDER BY live DESC, ns LIMIT 1""")
            # Nothing is live at the start: a peak of 0 bytes is then.
            none = best is None or best[0] == 0
            return measure_result("peak", 0 if none else best[0], [("time", 0 if none else best[1])])
        return "peak", peak
    a, b = time_value(), time_value()

    def growth(s):
        def part(condition):
            return one(f"SELECT coalesce(sum(r.wb), 0), coalesce(sum(r.wc), 0) {s.rows()} WHERE {condition}")
        # `end` is the moment after the last event: what was never freed is live.
        at_a = "r.free_time IS NULL" if a[0] == "end" else live_at(a[1])
        at_b = "r.free_time IS NULL" if b[0] == "end" else live_at(b[1])
        parts = [("born", part(f"{at_b} AND NOT {at_a}")), ("died", part(f"{at_a} AND NOT {at_b}")),
                 ("stayed", part(f"{at_a} AND {at_b}"))]
        return measure_result(f"growth {a[0]}..{b[0]}", parts[0][1][0] - parts[1][1][0],
                              [(k, v[0]) for k, v in parts] + [(k + " blocks", v[1]) for k, v in parts])
    return f"growth {a[0]}..{b[0]}", growth


def make_resident_measure():
    """What of blocks that were live at one time was in memory, and of how many that is known."""
    text, condition, of_row = live_and_resident()
    word = rng.choice(("sum", "avg", "min", "max"))
    query = {"sum": f"coalesce(sum({of_row} * r.wc), 0)", "avg": f"sum({of_row} * r.wc) / sum(r.wc) FILTER (WHERE {of_row} IS NOT NULL)",
             "min": f"min({of_row})", "max": f"max({of_row})"}[word]
    name, set_run = f"{word} resident", base(condition)
    return f"{text} | {name}", lambda: measure_result(name, one(f"SELECT {query} {set_run().rows()}")[0])


def make_group_measure():
    if rng.random() < 0.4:
        return "count", lambda g: measure_result("count", one(f"SELECT count(*) FROM {g.table}")[0])
    word, field = rng.choice(("sum", "avg", "min", "max")), rng.choice(MEASURES[:9])
    query = {"sum": f"coalesce(sum({field}), 0)", "avg": f"sum({field}) / count(*)"}.get(word, f"{word}({field})")
    return f"{word} {field}", lambda g: measure_result(f"{word} {field}", one(f"SELECT {query} FROM {g.table}")[0])


def make_graph():
    uses.clear()
    if readings and rng.random() < 0.05:
        return make_resident_measure()
    text, run = make_pipeline(2)
    prefix = ""
    if rng.random() < 0.2:
        prefix, text = f"part = {text}; ", "part"
        if rng.random() < 0.5:
            text = "part & all"
            run = combine(run, "&", base("1"))
    if rng.random() < 0.5:
        if rng.random() < 0.2:
            keys, least = ["path"], rng.choice((0, 1, 100, 1000, 1024, 10000, 100000, 1 << 30))
            text += f" | fold {least}"
            run = (lambda before: lambda: fold(before(), least))(run)
        else:
            keys = rng.sample(list(KEYS), rng.choice((1, 1, 2, 3)))
            uses.update(set(keys) & {"arena", "process"})
            text += " | join " + ", ".join(keys)
            run = (lambda before: lambda: join(before(), keys))(run)
        for _ in range(rng.choice((0, 1, 2))):
            step_text, step = make_group_step(keys)
            text, run = f"{text} | {step_text}", (lambda b, s: lambda: s(b()))(run, step)
        if rng.random() < 0.2:
            step_text, step = make_group_measure()
            return prefix + text + " | " + step_text, (lambda b, s: lambda: s(b()))(run, step)
        if rng.random() < 0.3:
            text, run = text + " | ungroup", (lambda b: lambda: ungroup(b()))(run)
            if rng.random() < 0.5:
                step_text, step = make_step()
                text, run = f"{text} | {step_text}", (lambda b, s: lambda: s(b()))(run, step)
        return prefix + text, run
    if rng.random() < 0.4:
        step_text, step = make_measure()
        return prefix + text + " | " + step_text, (lambda b, s: lambda: s(b()))(run, step)
    return prefix + text, run


def expected(run):
    global tables
    result = run()
    lines = result if isinstance(result, list) else result.result()
    groups = isinstance(result, Groups)
    while tables > 0:
        db.execute(f"DROP TABLE t{tables}")
        tables -= 1
    return lines, len(result.keys) if groups else -1


def found(lines, keys):
    """The lines of print_graph without what the reference does not compute."""
    if keys < 0:
        cells = [line.split("\t") for line in lines]
        return ["\t".join(c[:2] + c[3:]) if len(c) > 2 else c[0] for c in cells]
    head = lines[0].split("\t")
    wanted = list(range(keys)) + [keys + head[keys:].index(m) for m in MEASURES] + [len(head) - 1]
    return ["\t".join(line.split("\t")[i] for i in wanted) for line in lines[1:]]


if program == "-":
    print(json.dumps([make_graph()[0] for _ in range(count)]))
    sys.exit()
differences = rows = 0
kinds = {"allocations": 0, "groups": 0, "measures": 0}
for first in range(0, count, 50):
    graphs, runs, used = [], [], []
    for _ in range(min(50, count - first)):
        graph, run = make_graph()
        graphs.append(graph)
        runs.append(run)
        used.append(set(uses))
    output = subprocess.run([program, path] + graphs, capture_output=True, text=True, errors="surrogateescape", check=False)
    parts = re.split(r"^# .*\n", output.stdout, flags=re.M)[1:]
    if output.returncode != 0:
        print(f"does not run: {graphs[min(len(parts), len(graphs) - 1)]}\n  {output.stderr.strip()}")
        differences += 1
    for graph, run, fields, part in zip(graphs, runs, used, parts):
        uses.clear()
        uses.update(fields)
        lines, keys = expected(run)
        here = found(part.split("\n")[:-1], keys)
        rows += len(lines)
        kinds["groups" if keys >= 0 else "measures" if "\t" in "".join(lines[:1]) else "allocations"] += 1
        if here != lines:
            differences += 1
            place = next((i for i, (a, b) in enumerate(zip(here, lines)) if a != b), min(len(here), len(lines)))
            print(f"seed {seed}: {graph}\n  line {place + 1}: found {here[place:place + 1]}, expected {lines[place:place + 1]}"
                  f" ({len(here)} and {len(lines)} lines)")
    if differences >= 10:
        break
print(f"{sum(kinds.values())} graphs ({', '.join(f'{v} {k}' for k, v in kinds.items())}), {rows} rows, "
      f"{differences} differences")
sys.exit(differences > 0)
