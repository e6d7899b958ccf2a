# SPDX-License-Identifier: BSD-2-Clause
"""--mmap: the mappings at the end are those that the program says it left. The pieces that ended did so
when, where and by the thread that unmapped them. The heap is not affected. Without the option no mapping is
recorded."""
import os
import sqlite3
import subprocess

import recording
from recording import Recording, check, check_sound

PAGE = 4096


def session_of(one):
    path = one.folder + "/session.db"
    subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", path, one.path], check=True)
    return sqlite3.connect(path)


def record(name, options=(), environment=None):
    one = Recording(name, [recording.program("maps"), "mapped file"], environment=environment, run_options=options)
    check(one.run.returncode == 0 and one.run.stderr == "", f"{name}: {one.run}")
    check_sound(one)
    return one


for name, options, environment in (("maps-out", ["--mmap"], None), ("maps-set", [], {"MPROF_OPTIONS": "mmap=1"}),
                                   ("maps-packed", ["--mmap", "--compress"], None)):
    one = record(name, options, environment)
    session = session_of(one)
    said = sorted((int(a), int(s), p) for a, s, p in (line.split() for line in one.run.stdout.splitlines()))
    rows = session.execute("""SELECT r.address, r.size, r.protection, r.map_ns, r.unmap_ns, r.mapping, r.shared,
        r.file, r.offset, r.thread_id, r.unmap_thread_id, r.moved_from, v.function
        FROM region r JOIN v_region v USING (id) ORDER BY r.id""").fetchall()
    mine = [row for row in rows if row[12] in ("main", "map")]
    left = sorted(row[:3] for row in mine if row[4] is None)
    check(left == said, f"{name}: mapped at the end {left}, not {said}")
    # No two pieces are in the same place at the same time.
    by_place = sorted(rows)
    for i, a in enumerate(by_place):
        for b in by_place[i + 1:]:
            if b[0] >= a[0] + a[1]:
                break
            check((a[4] or 1 << 63) <= b[3] or (b[4] or 1 << 63) <= a[3], f"{name}: {a} and {b} at once")
    hole = [row for row in mine if row[1] == 2 * PAGE and row[10] not in (None, row[9])]
    check(len(hole) == 1 and sum(row[5] == hole[0][5] for row in mine) == 3, f"{name}: the hole: {hole}")
    mapped = [row for row in mine if row[7]]
    check([(os.path.basename(row[7]), row[8], row[6], row[1]) for row in mapped] == [("mapped file", 3 * PAGE, 1, 3 * PAGE)],
          f"{name}: the file: {mapped}")
    moved = [row for row in mine if row[11] is not None]
    check([row[1] for row in sorted(moved, key=lambda row: row[3])] == [500 * PAGE, 7 * PAGE] and
          all(row[2] == "rw-" for row in moved), f"{name}: mremap: {moved}")
    # A piece that mprotect changed continues an earlier piece, which ended at that moment.
    by_id = {row[0]: row[1:] for row in session.execute("""SELECT r.id, r.address, r.size, r.protection, r.map_ns,
        r.unmap_ns, r.mapping, r.changed_from, v.function FROM region r JOIN v_region v USING (id)""")}
    changed = [row for row in by_id.values() if row[6] is not None]
    check(sorted((row[1] // PAGE, row[2]) for row in changed) ==
          [(1, "r--"), (1, "r--"), (1, "r--"), (1, "r-x"), (1, "r-x"), (1, "rw-"), (2, "r--")], f"{name}: mprotect: {changed}")
    for row in changed:
        before = by_id[row[6]]
        check(before[0] <= row[0] and row[0] + row[1] <= before[0] + before[1] and before[4] == row[3] and
              before[5] == row[5] and before[2] != row[2] and row[7] == "main", f"{name}: {row} goes on from {before}")
    gone = [row for row in mine if row[1] == 3 * PAGE and row[4] is not None and not row[7] and row[2] == "rw-"]
    check(len(gone) == 1 and gone[0][4] >= gone[0][3], f"{name}: unmapped as a whole: {gone}")
    # The function that unmapped it, and how much of it was resident: 2 of 6 pages were written to.
    ends = session.execute("SELECT unmap_function, resident FROM v_region WHERE size = ? AND function = 'unmapped_by'",
                           (6 * PAGE,)).fetchall()
    check(ends == [("unmap_touched", 2 * PAGE)], f"{name}: the end of what was touched: {ends}")
    check(session.execute("SELECT count(*) FROM region WHERE (unmap_stack_id IS NULL) <> (unmap_ns IS NULL) OR "
                          "resident > size OR (resident IS NOT NULL AND unmap_ns IS NULL)").fetchone()[0] == 0,
          f"{name}: ends without a stack")
    check(not [row for row in rows if row[1] >= 8 << 20 and row[12] in ("main", "map")], f"{name}: the heap's own memory")
    check(session.execute("SELECT count(*) FROM allocation WHERE size = ?", (8 << 20,)).fetchone()[0] == 1, f"{name}: block")
    heap = session.execute("SELECT (SELECT value FROM meta WHERE key = 'bytes_allocated'), "
                           "(SELECT sum(size) FROM allocation)").fetchone()
    check(heap[0] == heap[1], f"{name}: the heap's sum: {heap}")

# In a session of several processes each process has its own pieces.
both = recording.folder("maps-both") + "/both.db"
subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", both, "maps-out/trace.bin", "maps-set/trace.bin"], check=True)
query = "SELECT size, protection, function, thread, unmap_ns IS NULL FROM v_region ORDER BY 1, 2, 3, 4, 5"
one, two, together = (sqlite3.connect(path).execute(query).fetchall()
                      for path in ("maps-out/session.db", "maps-set/session.db", both))
check(sorted(one + two) == sorted(together) and len(together) > 10, f"several processes: {together}")

without = record("maps-none")
check(session_of(without).execute("SELECT count(*) FROM region").fetchone()[0] == 0, "regions without --mmap")
recording.done()
