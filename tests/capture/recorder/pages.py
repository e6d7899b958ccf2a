# SPDX-License-Identifier: BSD-2-Clause
"""Pages in memory: the ledger of a program's last moment has each part within 1 % of what the program says it made, by
both ways to read pages. The classes add up to the pages counted, and these lie at the kernel's own count."""
import os
import random
import re
import sqlite3
import subprocess

import recording
from recording import Recording, check

MIB = 1 << 20
if not os.access("/proc/self/pagemap", os.R_OK):
    print("no /proc/PID/pagemap here")
    raise SystemExit(77)

seed = int(os.environ.get("MPROF_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
print("seed", seed)
draw = random.Random(seed).randint
untouched, touched, holes, whole, stack, file, anonymous, zero = [
    draw(32, 128), draw(8, 24), draw(16, 40), draw(8, 24), draw(2, 6), draw(6, 16), draw(8, 24), draw(8, 24)]
threads = draw(2, 4)
parts = [str(part) for part in (untouched, touched, holes, whole, stack, file, anonymous, zero, threads)]


def session_of(one, *options):
    path = one.folder + "/session.db"
    subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", *options, "-o", path, one.path], check=True)
    return sqlite3.connect(path)


def record(name, end, environment=None, options=()):
    one = Recording(name, [recording.program("pages"), *parts, end], environment=environment, run_options=options)
    check(one.run.returncode == 0 and one.run.stderr == "", f"{name}: {one.run}")
    return one, session_of(one), [int(number) for number in one.run.stdout.split()]


def near(name, what, bytes_, expected, slack=1 << 17):
    check(abs(bytes_ - expected) <= expected / 100 + slack, f"seed {seed}, {name}: {what} {bytes_}, not {expected}")


def ledger(name, session):
    for moment, *numbers in session.execute("""SELECT id, present, rss_before, rss_after, coarse,
            (SELECT sum(bytes) FROM residency_class WHERE residency_id = id AND in_rss) FROM residency"""):
        present, before, after, coarse, classes = numbers
        check(classes == present, f"{name}: the classes of moment {moment} have {classes} of {present} bytes")
        if session.execute("SELECT zero_known FROM residency WHERE id = ?", (moment,)).fetchone()[0]:
            # The kernel's counters of each processor may hold back some pages.
            slack = present / 500 + 64 * 4096 * os.cpu_count() + coarse
            check(min(before, after) - slack <= present <= max(before, after) + slack,
                  f"{name}: moment {moment} has {present} bytes, the kernel counts {before} to {after}")
    last = session.execute("SELECT max(id), reason, zero_known, allocator FROM residency").fetchone()
    check(last[1] == "end", f"{name}: the last moment is of the reason {last[1]}")
    check(last[3] == "glibc", f"{name}: the allocator is {last[3]!r}")
    found = dict(session.execute("SELECT class, bytes FROM v_rss WHERE residency_id = ?", (last[0],)))
    for stack_id, live, split in session.execute("""SELECT stack_id, live_bytes, resident + untouched + swapped
            FROM residency_stack WHERE residency_id = ?""", (last[0],)):
        check(live == split, f"{name}: of stack {stack_id} {split} of {live} bytes")
    return last[0], last[2], found


def compare(name, session, free_bytes):
    moment, zero_known, found = ledger(name, session)
    pins = holes * MIB // 1008 // 4
    only_read = 0 if zero_known else zero * MIB
    near(name, "live_resident", found["live_resident"], touched * MIB + 24 * pins + only_read)
    near(name, "live_untouched", found["live_untouched"], untouched * MIB + zero * MIB - only_read)
    near(name, "holes_resident", found["holes_resident"], holes * MIB)
    near(name, "free_pages", found["free_pages"], whole * MIB)
    near(name, "stacks", found["stacks"], stack * threads * MIB)
    near(name, "other_anonymous", found["other_anonymous"], anonymous * MIB)
    near(name, "zero_page", found.get("zero_page", 0), zero * MIB - only_read)
    # Each thread's arena has 132 KiB, mostly never touched.
    near(name, "mallinfo2", found["holes_resident"] + found["free_pages"], free_bytes, (threads + 1) << 18)
    data = session.execute("""SELECT bytes FROM residency_class WHERE residency_id = ? AND class = 'files'
        AND detail LIKE '%/pages.data'""", (moment,)).fetchone()
    near(name, "the file", data[0] if data else 0, file * MIB)
    check(found.get("unattributed", 0) <= 0.01 * sum(found.values()), f"{name}: unattributed {found.get('unattributed')}")
    known = session.execute("SELECT sum(last_owned) FROM residency_stack WHERE residency_id = ?", (moment,)).fetchone()[0]
    check(known >= 0.95 * (found["holes_resident"] + found["free_pages"]), f"{name}: {known} bytes of holes have an owner")
    pinned = dict(session.execute("SELECT function, sum(bytes) FROM v_pinned_page WHERE residency_id = ? GROUP BY 1",
                                  (moment,)))
    near(name, "pinned by make_holes", pinned.get("make_holes", 0), holes * MIB)
    return found


def pages_of(session, moment):
    """The pages by class, as schemas/columns.md says."""
    pages = {}
    for (data,) in session.execute("SELECT data FROM residency_run WHERE residency_id = ? ORDER BY position", (moment,)):
        numbers, value, shift = [], 0, 0
        for byte in data:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                numbers.append(value)
                value = shift = 0
        for coded in numbers[1::2]:
            pages[coded & 7] = pages.get(coded & 7, 0) + (coded >> 3)
    return pages


one, session, (free_bytes, _) = record("pages-out", "stay")
found = compare("pages-out", session, free_bytes)
moment, present = session.execute("SELECT max(id), present FROM residency").fetchone()
pages = pages_of(session, moment)
check((pages.get(0, 0) + pages.get(1, 0)) * 4096 == present, f"the runs have {pages}, {present} bytes are present")
bytes_ = sum(int(length) for length in re.findall(r" resident .* runs (\d+) ", subprocess.run(
    [recording.BUILD + "/bin/mprof-ingest", "--dump", one.path], capture_output=True, text=True, check=True).stdout))
moments = session.execute("SELECT count(*) FROM residency").fetchone()[0]
check(bytes_ <= 1024 * moments, f"{bytes_} bytes of runs for {moments} moments")

one, session, (free_bytes, _) = record("pages-file", "stay", {"MPROF_TEST_PAGEMAP": "file"})
compare("pages-file", session, free_bytes)

one, session, (_, returned) = record("pages-trim", "trim")
near("pages-trim", "malloc_trim", found["free_pages"], returned)

one, session, _ = record("pages-off", "stay", options=["--residency=off"])
check(session.execute("SELECT count(*) FROM residency").fetchone()[0] == 0, "--residency=off has moments")
check(session.execute("SELECT why FROM residency_missing").fetchall() == [("it was recorded with --residency=off",)],
      "--residency=off is not said")
# A program of few pages: reading them stays below 1 % of the time on a loaded machine, too.
session = session_of(Recording("pages-often", ["sleep", "2"], run_options=["--residency=20ms"]))
check(session.execute("SELECT count(*) FROM residency WHERE reason = 'interval'").fetchone()[0] >= 2,
      "--residency=20ms has fewer than two moments by interval")
raise SystemExit(len(recording.wrong) > 0)
