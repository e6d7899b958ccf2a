#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""residency_rows.py SESSION [SEED]: gives a session readings of pages that nobody has read. Runs of pages around
its blocks are in memory, swapped out, zero or absent at random; the tables say what follows from that. So views,
reports and filters can be compared with SQL on sessions of any kind, also on synthetic ones."""
import bisect
import random
import sqlite3
import sys

path, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
PAGE, GAP, CHUNK = 4096, 32, 4096
PRESENT, HUGE, ZERO, SWAPPED = range(4)
db = sqlite3.connect(path)
for table in ("residency", "residency_class", "residency_stack", "residency_run", "residency_missing"):
    db.execute(f"DELETE FROM {table}")


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def draw_pages(rng, blocks):
    """The state of each page that a block has ever touched, in runs; absent ones have none."""
    pages = sorted({page for start, end in blocks for page in range(start // PAGE, (end - 1) // PAGE + 1)})
    state, left, kind = {}, 0, None
    for page in pages:
        if left == 0:
            left = rng.choice((1, 2, 5, 20, 60))
            kind = rng.choices((PRESENT, HUGE, ZERO, SWAPPED, None), (75, 4, 3, 4, 14))[0]
        left -= 1
        if kind is not None:
            state[page] = kind
    return state


def runs_of(state):
    runs = []
    for page in sorted(state):
        if runs and runs[-1][0] + runs[-1][1] == page and runs[-1][2] == state[page]:
            runs[-1][1] += 1
        else:
            runs.append([page, 1, state[page]])
    return runs


def parts_of(start, end):
    """The pieces of an interval by page."""
    while start < end:
        stop = min(end, (start // PAGE + 1) * PAGE)
        yield start // PAGE, start, stop
        start = stop


def reading(rng, process, number, reason, mark, ns):
    rows = db.execute("""SELECT a.address, max(a.size, 0), a.stack_id, a.type_id, a.alloc_ns, a.free_ns FROM allocation a
      JOIN thread t ON t.id = a.thread_id WHERE t.process_id = ? AND a.arena_id = 0 AND a.alloc_ns <= ? ORDER BY a.address, a.id""",
                      (process, ns)).fetchall()
    state = draw_pages(rng, [(a, a + max(size, 1)) for a, size, *_ in rows if size < 1 << 24 and a > 0])
    live = [row for row in rows if row[5] is None or row[5] > ns]
    freed = sorted((row for row in rows if row[5] is not None and row[5] <= ns), key=lambda row: row[5])
    sums, total, blocks = {}, dict.fromkeys(("live_resident", "live_untouched", "live_swapped", "headers", "holes_resident", "free_pages"), 0), 0
    add = lambda row, which, bytes: sums.setdefault((row[2], row[3]), dict.fromkeys(
        ("bytes", "count", "resident", "untouched", "swapped", "headers", "pinned", "pages", "last"), 0)).__setitem__(
            which, sums[row[2], row[3]][which] + bytes)
    last_on_page, holes, covered = {}, [], {}
    for row in live:
        start, end = row[0], row[0] + row[1]
        add(row, "bytes", row[1])
        add(row, "count", 1)
        blocks += 1
        for page, low, high in parts_of(start, end):
            kind = state.get(page)
            name = "resident" if kind in (PRESENT, HUGE) else "swapped" if kind == SWAPPED else "untouched"
            add(row, name, high - low)
            total["live_" + name] += high - low
            if name == "resident":
                covered.setdefault(page, []).append((low, high, row))
    for page, kind in state.items():
        if kind not in (PRESENT, HUGE):
            continue
        if page not in covered:
            total["free_pages"] += PAGE
            holes.append((page * PAGE, page * PAGE + PAGE))
            continue
        at, owner = page * PAGE, covered[page][0][2]
        ends = [(low, high, row) for low, high, row in covered[page]] + [(page * PAGE + PAGE, page * PAGE + PAGE, None)]
        pinned = 0
        for low, high, row in ends:
            if low > at:
                if low - at <= GAP and at > page * PAGE:
                    add(owner, "headers", low - at)
                    total["headers"] += low - at
                else:
                    pinned += low - at
                    holes.append((at, low))
            at, owner = max(at, high), row or owner
        total["holes_resident"] += pinned
        if pinned:
            add(owner, "pinned", pinned)
            add(owner, "pages", 1)
    holes.sort()
    begins = [low for low, _ in holes]
    owned = {}
    for row in freed:
        if row[1] == 0:
            continue
        for i in range(max(0, bisect.bisect_right(begins, row[0]) - 1), bisect.bisect_left(begins, row[0] + row[1])):
            if holes[i][1] > row[0]:
                owned[i] = row
    for i, row in owned.items():
        add(row, "last", holes[i][1] - holes[i][0])
    others = [("stacks", "main", 132 << 10), ("stacks", "worker", 20 << 10), ("files", "/usr/lib/libc.so.6", 1200 << 10),
              ("files", "/usr/bin/<program>", 340 << 10), ("other_anonymous", "[vvar]", 16 << 10), ("recorder", "", 420 << 10),
              ("unattributed", "", 8 << 10)]
    present = sum(total[name] for name in ("live_resident", "headers", "holes_resident", "free_pages")) + sum(b for *_, b in others)
    swapped = PAGE * sum(kind == SWAPPED for kind in state.values())
    zero = PAGE * sum(kind == ZERO for kind in state.values())
    db.execute("""INSERT INTO residency(id, process_id, ns, begin_ns, end_ns, reason, mark, rss_before, rss_after, present, swapped,
      zero_known, coarse, allocator, huge, live_huge) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 'glibc', 0, 0)""",
               (number, process, ns, ns - 20000, ns + 20000, reason, mark, present - 8192, present + 4096, present, swapped))
    for name, bytes in total.items():
        db.execute("INSERT INTO residency_class VALUES (?, ?, '', ?, ?, ?)", (
            number, name, bytes, blocks if name == "live_resident" else None, name not in ("live_untouched", "live_swapped")))
    db.execute("INSERT INTO residency_class VALUES (?, 'zero_page', '', ?, NULL, 0)", (number, zero))
    for name, detail, bytes in others:
        db.execute("INSERT INTO residency_class VALUES (?, ?, ?, ?, NULL, 1)", (number, name, detail, bytes))
    for (stack, type), s in sums.items():
        db.execute("INSERT INTO residency_stack VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (
            number, stack, type, s["bytes"], s["count"], s["resident"], s["untouched"], s["swapped"], s["headers"],
            s["pinned"], s["pages"], s["last"]))
    runs = runs_of(state)
    for position, first in enumerate(range(0, len(runs), CHUNK)):
        data, at = b"", 0
        for page, length, kind in runs[first:first + CHUNK]:
            data += varint(page - at) + varint(length << 3 | kind)
            at = page + length
        db.execute("INSERT INTO residency_run VALUES (?, ?, ?)", (number, position, data))


def main():
    number = 0
    meta = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('duration_ns', 'peak_ns')"))
    for process, start, end, peak in db.execute("""SELECT p.id, p.start_ns, p.end_ns, p.peak_ns FROM process p WHERE p.id IN
      (SELECT t.process_id FROM thread t JOIN allocation a ON a.thread_id = t.id) ORDER BY p.id""").fetchall():
        if end == 0: # of a synthetic session
            end, peak = int(meta["duration_ns"]), int(meta["peak_ns"])
        rng = random.Random(seed * 1000 + process)
        marks = db.execute("SELECT ns, name FROM mark WHERE process_id = ? AND ns > ? AND ns < ? AND name <> '' ORDER BY ns LIMIT 2",
                           (process, start, end)).fetchall()
        moments = [("start", None, start + (end - start) // 20), ("maximum", None, peak), ("interval", None, start + (end - start) // 3),
                   ("end", None, end)] + [("mark", name, ns) for ns, name in marks]
        for reason, mark, ns in sorted(moments, key=lambda moment: moment[2]):
            number += 1
            reading(rng, process, number, reason, mark, ns)
    db.commit()


main()
