# SPDX-License-Identifier: BSD-2-Clause
"""The resident set that mprof-run samples. A program touches 64 MiB and gives it back, and the samples show
that, in the trace's time, without another thread in the program. A short program loses nothing."""
import os
import sqlite3
import subprocess

import recording
from recording import Recording, check, check_sound

for clock in ("tsc", "ns"):
    folder = recording.folder("resident-out")
    # The program waits for samples by their bytes, so no pages may be recorded beside them.
    one = Recording("resident-out", [recording.program("grows"), folder + "/trace.bin"],
                    environment={"MPROF_TEST_CLOCK": clock}, run_options=["--residency=off"])
    check(one.run.returncode == 0 and one.run.stderr == "", f"{one.run}")
    check_sound(one)
    check(len(one.main.threads) == 1, f"threads: {list(one.main.threads)}")
    sizes = [size for _, size in one.main.resident]
    times = [when for when, _ in one.main.resident]
    check(len(sizes) >= 6 and times == sorted(times), f"samples: {one.main.resident}")
    least, most = min(sizes), max(sizes)
    check(64 << 20 <= most - least < 80 << 20, f"64 MiB more: {sizes}")
    check(sizes[-1] < least + (8 << 20), f"given back at the end: {sizes}")
    session = one.folder + "/session.db"
    subprocess.run([recording.BUILD + "/bin/mprof-ingest", "-o", session, one.path], check=True,
                   stdout=subprocess.DEVNULL)
    with sqlite3.connect(session) as database:
        rows = database.execute("SELECT ns, bytes FROM rss ORDER BY ns").fetchall()
        meta = dict(database.execute("SELECT key, value FROM meta"))
        block = database.execute("SELECT alloc_ns, free_ns FROM allocation WHERE size = ?", (64 << 20,)).fetchone()
        threads = database.execute("SELECT count(*) FROM thread").fetchone()[0]
        problems = database.execute("SELECT kind, detail FROM problem").fetchall()
    check([size for _, size in rows] == sizes, f"the session's samples: {rows}")
    check(threads == 1 and str(meta["threads"]) == "1", f"the session's threads: {threads} {meta['threads']}")
    check(not problems, f"problems: {problems}")
    large = [ns for ns, size in rows if size > least + (60 << 20)]
    check(len([ns for ns in large if block[0] < ns < block[1]]) >= 2,
          f"large while the block lives, {block}: {rows}")
    check(0 <= rows[0][0] and rows[-1][0] <= int(meta["duration_ns"]), f"within the trace: {rows} {meta['duration_ns']}")

# A child that lives long enough, and a program executed in its place, are sampled in their own traces.
for name, script in (("fork", "{0} {1}/trace.bin.d/; :"), ("exec", "exec {0} {1}/trace.bin.d/")):
    folder = recording.folder("resident-" + name)
    one = Recording("resident-" + name, ["/bin/sh", "-c", script.format(recording.program("grows"), folder)],
                    run_options=["--residency=off"])
    check(one.run.returncode == 0 and one.run.stderr == "", f"{name}: {one.run}")
    check_sound(one)
    grown = [trace for trace in one.others if trace.resident and
             max(size for _, size in trace.resident) - min(size for _, size in trace.resident) >= 64 << 20]
    check(len(grown) == 1, f"{name}: {[(trace.path, len(trace.resident)) for trace in one.others]}")
# A program at rest is sampled every 10 ms at first, but the same value is written every 100 ms.
still = Recording("resident-still", ["sleep", "1"], environment={"MPROF_TEST_CLOCK": "ns"})
pairs = [(then, now) for (then, before), (now, after) in zip(still.main.resident, still.main.resident[1:]) if before == after]
check(pairs and sum(now - then for then, now in pairs) >= len(pairs) * 50_000_000, f"at rest: {still.main.resident}")
# Without mprof-run the program samples its own resident set, when a chunk begins and at the end.
linked = recording.folder("resident-linked") + "/trace.bin"
alone = subprocess.run([recording.program("endings"), "many"], env={
    **os.environ, "MPROF_OUTPUT": linked, "LD_PRELOAD": recording.BUILD + "/lib/libmprof.so"}, capture_output=True, text=True)
trace = recording.trace_text.Trace(linked)
times = [when for when, _ in trace.resident]
check(alone.returncode == 0 and alone.stderr == "" and not trace.complain(), f"alone: {alone} {trace.complain()}")
check(len(trace.resident) == int(trace.header["chunks"]) + 1 > 5 and times == sorted(times), f"alone: {trace.resident}")
check(all(1 << 20 < size < 1 << 30 for _, size in trace.resident), f"alone: {trace.resident}")
check_sound(Recording("resident-short", [recording.program("endings"), "return"]))
recording.done()
