# SPDX-License-Identifier: BSD-2-Clause
"""Faults around a program. It ends as it would alone, there is at most one message, and the recorded part
loads."""
import os
import resource
import signal
import sqlite3
import subprocess

import recording
from recording import Recording, check, check_sound, sizes

faults = recording.program("faults")
below = recording.program("below.so")


def record(what, *arguments, status=0, messages=0, says="", others=None, environment=None, ending=None, sound=True,
           **keywords):
    name = " ".join([what, *arguments])
    one = Recording("faults-out", [faults, what, *arguments], environment=environment, **keywords)
    check(one.run.returncode == status, f"{name}: ended with {one.run.returncode}: {one.run.stderr}")
    lines = one.run.stderr.splitlines()
    check(len(lines) == messages and all(line.startswith("mprof: ") and says in line for line in lines),
          f"{name}: said {one.run.stderr!r}")
    if sound:
        check_sound(one)
    if others is not None:
        check(len(one.others) == others, f"{name}: {len(one.others)} other traces")
    if one.main and ending:
        check(one.main.header["state"] == ending, f"{name}: the header says {one.main.header['state']}")
    for path in list(one.traces)[:10]:
        ingested = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "--force", "-o",
                                   one.folder + "/session.db", path], capture_output=True, text=True)
        check(ingested.returncode == 0, f"{name}: ingest: {ingested.stderr}")
    return one


def total(trace):
    return sum(len(thread.events()) for thread in trace.threads.values())


# A chunk is given back before the next is asked for, so recording goes on.
memory = record("memory", ending="ended")
check(len(memory.main.failed) >= 60, f"memory: {len(memory.main.failed)} failed calls recorded")

# The trace's own descriptor was open before. A child gets none for its trace.
full = record("descriptors", messages=1, says="error 24, too many open files; nothing is recorded", others=0, ending="ended")
check(total(full.main) >= 120000, f"descriptors: {total(full.main)} events")
lost = record("lost-descriptors", messages=1, says="error 24", others=0, ending="error", sound=False)
check(total(lost.main) + int(lost.main.header["dropped"]) >= 120000, f"lost-descriptors: {lost.main.header}")

# For the program, our descriptor is a number that is not open. Alone it gets the same answer.
check(subprocess.run([faults, "numbers"]).returncode == 0, "numbers, alone")
numbers = record("numbers", others=1, ending="ended")
check(sizes(numbers.main, 300) == {300: 180000}, f"numbers: {sizes(numbers.main, 300)}")

# A program closes all descriptors and opens its own under these numbers. No one else writes its files.
folder = recording.folder("faults-out")
for way, limit in (("closefrom", 0), ("close", 0), ("close_range", 0), ("call", 0), ("dup2", 96)):
    run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", "--force", "-o", folder + "/trace.bin", faults,
                          "take-over", way, "300000"], capture_output=True, text=True, cwd=folder, preexec_fn=lambda:
                         limit and resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
    check((run.returncode, run.stdout, run.stderr) == (0, "0 harmed\n", ""), f"take-over by {way}: {run}")
    subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "--force", "-o", folder + "/session.db",
                    folder + "/trace.bin"], check=True)
    with sqlite3.connect(folder + "/session.db") as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
    check(int(meta["allocations"]) >= 900000 and meta["dropped_events"] == meta["damaged_bytes"] == 0,
          f"take-over by {way}: {meta}")

storm = record("close-storm", others=0, ending="ended")
check(sizes(storm.main, 300) == {300: 480000}, f"close-storm: {sizes(storm.main, 300)}")

small = record("small-stacks", others=11, ending="ended")
check(sizes(small.main, 7000) == {7000: 20, 7001: 10, 7002: 10, 7003: 10, 7040: 10},
      f"small-stacks: {sizes(small.main, 7000)}")
check(all(sizes(trace, 2000) == {2000: 5} for trace in small.others), "small-stacks: the children")

# The file lives on without a name until the program ends. Its child's trace lies beside it.
removed = record("removed", os.path.abspath("faults-out/trace.bin"), others=1)
check(removed.main is None and sizes(removed.others[0], 2000) == {2000: 5}, "removed: the child's own trace")

record("segv", status=-signal.SIGSEGV, ending="recording")

at_once = record("at-once", "200", others=200, ending="ended")
check(sorted(size for trace in at_once.others for size in sizes(trace, 1500)) == [2000 + i for i in range(200)],
      "200 children at once: each has its own blocks")

plugin = recording.program("libstack_plugin_one.so")
spaces = record("namespaces", plugin, recording.program("stress_plugin.so"), others=0, ending="ended",
                messages=1, says="not recorded, in a namespace")
check(sizes(spaces.main, 3000) == {3000: 50, 3001: 50}, f"namespaces: {sizes(spaces.main, 3000)}")
with sqlite3.connect(spaces.folder + "/session.db") as database:
    seen = database.execute("SELECT count(*) FROM v_allocation a JOIN v_stack s ON s.stack_id = a.stack_id "
                            "WHERE a.size = 3000 AND s.function = 'plugin_run'").fetchone()[0]
check(seen == 50, f"namespaces: plugin_run is on {seen} stacks of 50")

preload = {"LD_PRELOAD": below}
for way in ("raw", "_Fork"):
    for call in "mrf":
        inside = record("clone-inside", way, call, environment=preload, others=8, ending="ended")
        count = sizes(inside.main, 1000)
        check(count == {1000: 400, 1100: 3, 1500: 8, 1600: 8, 1700: 8}, f"clone-inside {way} {call}: {count}")
        for trace in inside.others:
            count = sizes(trace, 1800)
            check(count == {2000: 5}, f"clone-inside {way} {call}: a child: {count}")
            check(" parent-trace 0x0" not in trace.process, "it names its parent")

for clock in ({}, {"MPROF_TEST_CLOCK": "ns"}):
    stepped = record("clock", environment={**preload, **clock}, ending="ended", sound=False)
    count = sizes(stepped.main)
    check(all(count.get(100 + i) == 4000 for i in range(8)) and count.get(1000) == 8, f"clock {clock}: {count}")
    with sqlite3.connect(stepped.folder + "/session.db") as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
        backwards = database.execute("SELECT count(*) FROM allocation WHERE free_ns < alloc_ns").fetchone()[0]
    check(backwards == 0, f"clock {clock}: {backwards} blocks end before they begin")
    # A clock that goes backwards stops in the trace, and then says nothing about the order of threads.
    keys = ["damaged_bytes", "dropped_events", "orphaned_stacks"]
    keys += [] if clock else ["unmatched_frees", "double_frees", "overlaps"]
    odd = {key: meta[key] for key in keys if int(meta[key])}
    check(not odd, f"clock {clock}: {odd}")
recording.done()
