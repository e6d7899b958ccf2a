# SPDX-License-Identifier: BSD-2-Clause
"""Blocks that pass from thread to thread while the load of their pointer is still under way. No end of a
block gets an earlier stamp than its beginning. The test takes two threads at one slot and six at sixteen,
with the C library's thread caches, which keep a block's next use in the thread, and without."""
import os
import sqlite3
import subprocess
import sys

import recording
from recording import Recording, check

WANTED, SECONDS = 100000, 20
PROBLEMS = ("double_frees", "overlaps", "unmatched_frees", "dropped_events", "damaged_bytes")
ONE_ARENA = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0"}

if len(os.sched_getaffinity(0)) < 2:
    print("one processor: no two threads run at a time")
    sys.exit(77)


def hand_over(how, threads, slots, environment=None, options=(), wanted=WANTED):
    """Records the program. Returns the session, the number of blocks made and a name for messages."""
    name = f"{how}, {threads} threads, {slots} slots, {' '.join(options)} {environment or ''}"
    one = Recording("handover-out", [recording.program("handover"), how, str(threads), str(slots), str(wanted),
                                     str(SECONDS)], environment, ["--unwind=fp", *options])
    check(one.run.returncode == 0, f"{name}: {one.run.returncode} {one.run.stderr}")
    made, handed_over = map(int, one.run.stdout.split())
    # If the threads took turns, each would find its own blocks. Many blocks of others prove an overlap.
    check(handed_over >= wanted / 10, f"{name}: only {handed_over} of {made} went from thread to thread: "
                                      "that proves nothing, run it on two free processors")
    path = one.folder + "/session.db"
    ingested = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", path, one.path],
                              capture_output=True, text=True)
    check(ingested.returncode == 0, f"{name}: {ingested.stderr}")
    session = sqlite3.connect(path)
    meta = dict(session.execute("SELECT key, value FROM meta"))
    found = {key: int(meta[key]) for key in PROBLEMS if int(meta[key])}
    check(not found, f"{name}: {found} after {handed_over} of {made} went from thread to thread")
    return session, made, name


def whole(session, made, name, each):
    """Checks that all blocks that were made are there and have ended."""
    count, live = session.execute(
        "SELECT count(*), sum(free_ns IS NULL) FROM allocation WHERE size IN (48, 64)").fetchone()
    check(count == made * each and live == 0, f"{name}: {count} blocks recorded of {made} made, {live} live at the end")


# These traces are too long to read and compare event by event here.
recording.Recording.read = lambda self: None
for tunables in ({}, ONE_ARENA):
    for threads, slots in ((2, 1), (6, 16)):
        whole(*hand_over("heap", threads, slots, tunables), each=1)
whole(*hand_over("resize", 2, 1), each=2)
whole(*hand_over("arena", 2, 1), each=2)
whole(*hand_over("heap", 2, 1, options=["--free-stacks"]), each=1)
whole(*hand_over("heap", 2, 1, options=["--compress"]), each=1)
# Such a sample leaves out a block of 48 bytes once in e^48.
whole(*hand_over("heap", 2, 1, options=["--sample=1"]), each=1)
hand_over("heap", 2, 1, {"MPROF_TEST_CLOCK": "ns"})
recording.done()
