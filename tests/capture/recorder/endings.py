# SPDX-License-Identifier: BSD-2-Clause
"""The ways to end and their exit statuses; a daemon that closes all descriptors."""
import signal
import sqlite3
import subprocess
import time

import recording
from recording import Recording, check, check_sound, sizes

endings = recording.program("endings")
EXIT, QUICK = 0, 1
for way, status, state, ends in (
        ("exit", 3, "ended", [EXIT]), ("return", 0, "ended", [EXIT]), ("_exit", 4, "ended", [QUICK]),
        ("_Exit", 5, "ended", [QUICK]), ("quick_exit", 6, "ended", [QUICK]),
        ("abort", -signal.SIGABRT, "recording", []), ("terminate", -signal.SIGTERM, "recording", []),
        ("pthread_exit", 0, "ended", [EXIT]), ("raw", 7, "recording", [])):
    one = Recording("endings-out", [endings, way])
    check(one.run.returncode == status, f"{way}: ended with {one.run.returncode}")
    check(one.run.stderr == "", f"{way}: said {one.run.stderr!r}")
    check_sound(one)
    check(one.main.header["state"] == state and one.main.ends == ends,
          f"{way}: state {one.main.header['state']}, ends {one.main.ends}")
    outcome = (one.main.header["outcome"], one.main.header["outcome-number"])
    check(outcome == (("1", str(status)) if status >= 0 else ("2", str(-status))), f"{way}: outcome {outcome}")
    late = sizes(one.main, 8000)
    at_exit = state == "ended" and not way.lower().startswith("_e")
    check(late == ({8000: 1, 9000: 1} if at_exit else {9000: 1}), f"{way}: blocks of the handlers: {late}")

# The recorder does not see an exit by a raw system call, and nobody sees a kill but those outside.
family = Recording("endings-out", ["sh", "-c", f"{endings} raw; {endings} abort; {endings} _exit; true"])
session = family.folder + "/session.db"
said = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "-o", session, family.path], capture_output=True, text=True)
check(said.returncode == 0 and "still running" not in said.stdout, f"the family: {said}")
with sqlite3.connect(session) as database:
    ways = dict((argv.split()[-1], ending) for argv, ending in database.execute("SELECT argv, ending FROM process"))
ways = {way: ending for way, ending in ways.items() if way in ("raw", "abort", "_exit")}
# Only newer kernels tell how the child of another process has ended, and only those who have seen it run.
check(ways["raw"] in ("ended", "killed or ended") and ways["abort"] in ("killed", "killed or ended") and
      ways["_exit"] == "ended", f"the family: {ways}")

# The program is killed after a hundred events, all in one chunk. The clock pairs in it scale the times.
began = time.monotonic_ns()
killed = Recording("endings-out", [endings, "killed"])
passed = time.monotonic_ns() - began
check(killed.run.returncode == -signal.SIGKILL and killed.main.header["state"] == "recording",
      f"killed: {killed.run.returncode} {killed.main.header['state']}")
check(killed.main.header["clock"] != "tsc" or killed.main.clocks > 0, "killed: no clock pair in its chunk")
session = killed.folder + "/session.db"
subprocess.run([recording.BUILD + "/bin/mprof-ingest", "-o", session, killed.path], check=True,
               stdout=subprocess.DEVNULL)
with sqlite3.connect(session) as database:
    problems = [row[0] for row in database.execute("SELECT detail FROM problem WHERE kind = 'clock'")]
    first, last = [database.execute("SELECT alloc_ns FROM allocation WHERE size = ?", (size,)).fetchone()[0]
                   for size in (9000, 7000)]
check(not problems, f"killed: {problems}")
    # The program slept 50 ms between the two. A tick takes about a third of a nanosecond.
check(40e6 < last - first < passed and last < passed, f"killed: {last - first} ns apart, of {passed} ns")

folder = recording.folder("endings-daemon")
daemon = Recording("endings-out", [endings, "close-all", folder + "/own"])
check(daemon.run.returncode == 0, f"daemon: {daemon.run.returncode}")
check_sound(daemon)
check(open(folder + "/own").read() == "abcdefghijklmnopqrstuvwxyz", "the daemon's own file is its own")
check(daemon.main.header["state"] == "ended" and int(daemon.main.header["chunks"]) > 2,
      f"the daemon's trace goes on: {daemon.main.header}")
check(sum(sizes(daemon.main).values()) >= 60010, "all of the daemon's events")

clock = Recording("endings-out", [endings, "return"], environment={"MPROF_TEST_CLOCK": "ns"})
check_sound(clock)
check(clock.main.header["clock"] == "nanoseconds", f"the other clock: {clock.main.header['clock']}")
recording.done()
