# SPDX-License-Identifier: BSD-2-Clause
"""Programs that confine themselves by seccomp. The filter would kill them for a forbidden call, so the
recorder makes none, and it records as long as there is room."""
import sqlite3
import subprocess

import recording
from recording import Recording, check, check_sound, sizes

confined = recording.program("confined")


def record(*arguments, messages=0):
    """Returns the recording, after checking what the program and the recorder said."""
    name = " ".join(arguments)
    one = Recording("confined-out", [confined, *arguments])
    check(one.run.returncode == 0 and one.run.stdout == "done\n", f"{name}: {one.run}")
    lines = one.run.stderr.splitlines()
    check(len(lines) == messages and all("recording stops" in line for line in lines), f"{name}: said {lines}")
    if not messages:
        check_sound(one)
    return one


for way in ("prctl", "seccomp", "generous", "refused"):
    one = record(way)
    check(sizes(one.main, 500) == {500: 20000}, f"{way}: {sizes(one.main, 500)}")
    check(one.main.header["state"] == "ended", f"{way}: {one.main.header}")

one = record("threads")
check(sizes(one.main, 320) == {320: 32000, 500: 20000}, f"threads: {sizes(one.main, 320)}")

one = record("child")
check(len(one.others) == 1 and sizes(one.others[0], 400) == {400: 15000}, f"child: {one.others}")
check(one.main.header["state"] == "ended", f"child: {one.main.header}")

# Without a clock nothing can be recorded: the earlier events are complete, the later ones counted.
for way in ("strict", "clock"):
    one = record(way, messages=1)
    check(sizes(one.main, 100).get(100) == 1000 and not one.main.damage, f"{way}: {sizes(one.main)}")
    check(one.main.header["state"] == "error" and int(one.main.header["dropped"]) >= 40000, f"{way}: {one.main.header}")


def meta(way):
    """Runs a program with so many blocks that ingest reads the trace, not this script."""
    folder = recording.folder("confined-much")
    run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", "-o", folder + "/trace.bin", confined, way,
                          "900000"], capture_output=True, text=True)
    check(run.returncode == 0 and run.stdout == "done\n", f"much, {way}: {run}")
    subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", folder + "/session.db",
                    folder + "/trace.bin"], check=True)
    with sqlite3.connect(folder + "/session.db") as database:
        rows = dict(database.execute("SELECT key, value FROM meta"))
    return run.stderr.splitlines(), rows


# A program hands its filter on to the one that it executes. The filter kills for reading other memory.
one = record("inherited")
check(one.main.header["state"] == "exec", f"inherited: {one.main.header}")
check([sizes(other, 600) for other in one.others] == [{600: 20000}], f"inherited: {one.others}")

# Programs that are executed under a filter learn what is known about it.
for way in ("handed", "spawned"):
    one = Recording("confined-out", [confined, way], environment={"MPROF_OPTIONS": "free-stacks"})
    said = "done\n" * (2 if way == "spawned" else 1)
    check((one.run.returncode, one.run.stdout, one.run.stderr) == (0, said, ""), f"{way}: {one.run}")
    check_sound(one)
    counts = sorted((sizes(other, 320) for other in one.others), key=len)
    check(counts == [{400: 500}, {320: 1000, 500: 20000}], f"{way}: {counts}")
    check(all(int(other.header["flags"]) == int(one.main.header["flags"]) for other in one.others), f"{way}: flags")
one = Recording("confined-out", [confined, "hopeless"])
check((one.run.returncode, one.run.stdout) == (0, "done\n"), f"hopeless: {one.run}")
check(one.run.stderr.count("\n") == 1 and "runs unrecorded" in one.run.stderr and
      recording.unrecorded(one.path) == [("confined", 5)], f"hopeless: {one.run}")

# If the filter lets the trace grow, it grows. If not, the room that was reserved before is used up.
said, much = meta("generous")
check(not said and much["events"] >= 1800000 and much["dropped_events"] == 0, f"much, generous: {said} {much}")
said, much = meta("prctl")
check(len(said) == 1 and "seccomp" in said[0], f"much: said {said}")
check(much["events"] > 500000 and much["dropped_events"] > 0, f"much: {much}")
check(much["events"] + much["dropped_events"] >= 1800000, f"much: {much['dropped_events']} are lost")
check(much["damaged_bytes"] == 0, f"much: {much['damaged_bytes']} bytes damaged")
recording.done()
