# SPDX-License-Identifier: BSD-2-Clause
"""No room: a full disk, a file size limit, a folder that cannot be written. There is one message and a
counted loss, and the program goes on."""
import os
import resource
import struct
import subprocess

import recording
from recording import Recording, check
from steps import STATE, Steps

CHUNK_COUNT, FREED_BYTES, LIMIT = 96, 408, 3  # in the file header

endings = recording.program("endings")


def check_stopped(one, state, trace, why):
    check(one.returncode == 0, f"{state}: the program ended with {one.returncode}")
    lines = [line for line in one.stderr.splitlines() if line.startswith("mprof: ")]
    check(len(lines) == 1 and "recording stops" in lines[0] and why in lines[0] and "error" not in lines[0],
          f"{state}: said {one.stderr!r}")
    check(trace.header["state"] == state, f"{state}: the header says {trace.header['state']}")
    check(not trace.damage, f"{state}: {trace.damage}")
    recorded = sum(len(thread.events()) for thread in trace.threads.values())
    lost = int(trace.header["dropped"])
    check(recorded + lost >= 400200 and lost > 0, f"{state}: {recorded} recorded, {lost} counted as lost")
    # The C library makes a few calls beside the program's own.
    check(recorded + lost < 400300, f"{state}: {recorded} recorded and {lost} lost are too many")


def check_ingested(state, path):
    ingested = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", folder + "/session.db", "--force",
                               path], capture_output=True, text=True)
    check(ingested.returncode == 0, f"{state}: ingest: {ingested.stderr}")


PAGE, CHUNK_PAGES = 4096, 16
folder = recording.folder("disk-session")
# The places where the room ends: before, at and after each boundary of a header and the first chunks.
places = [1 + CHUNK_PAGES * chunks + more for chunks in range(4) for more in (0, 1, 15)]

for pages in places:
    limited = Recording("disk-out", [endings, "many"], preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (pages * PAGE, pages * PAGE)))
    check_stopped(limited.run, "limit", limited.main, "ulimit -f")
    check(os.path.getsize(limited.path) <= pages * PAGE, f"limit of {pages} pages: {os.path.getsize(limited.path)} bytes")
    check_ingested(f"limit of {pages} pages", limited.path)
none = Recording("disk-out", [endings, "return"],
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
check(none.run.returncode == 0 and none.run.stderr.count("mprof: ") == 1 and "nothing is recorded" in none.run.stderr
      and not none.traces, f"not even room for a header: {none.run}")

sized = Recording("disk-out", [endings, "many"], run_options=["--max-size=400K"])
check_stopped(sized.run, "limit", sized.main, "has reached the 400 KiB that --max-size allows")
check(os.path.getsize(sized.path) <= 464 << 10, f"--max-size=400K: {os.path.getsize(sized.path)} bytes")

# Bytes that an observer has given back do not count.
steps = Steps("disk-freed", "--max-size=200K")
steps.do("1")
for freed, reached in ((1 << 40, lambda: steps.header("<I", CHUNK_COUNT) > 5), (0, lambda: steps.header("<I", STATE) == LIMIT)):
    with open(steps.path, "r+b") as file:
        file.seek(FREED_BYTES)
        file.write(struct.pack("<Q", freed))
    if freed:
        steps.do("ssss")
    while not reached():
        os.sched_yield()
steps.process.stdin.close()
check(steps.process.wait() == 0, "a program whose limit is reached late")

# A filter answers like a quota from some place in the file on. It imitates a quota of the file system.
EDQUOT, FALLOCATE = "122", "285"
for place in (PAGE, PAGE + 1, 3 * CHUNK_PAGES * PAGE):
    limited = recording.folder("disk-out")
    run = subprocess.run([recording.program("sandboxed"), EDQUOT, f"{FALLOCATE}@{place}", recording.BUILD + "/bin/mprof-run",
                          "--quiet", "-o", limited + "/trace.bin", endings, "many"], capture_output=True, text=True)
    check_stopped(run, "disk-full", recording.trace_text.Trace(limited + "/trace.bin"), "quota")
    check_ingested(f"a quota of {place} bytes", limited + "/trace.bin")

nowhere = subprocess.run([endings, "return"], capture_output=True, text=True, env={
    **os.environ, "MPROF_OUTPUT": "/proc/no/such/folder/trace.bin",
    "LD_PRELOAD": recording.BUILD + "/lib/libmprof.so"})
check(nowhere.returncode == 0 and nowhere.stderr.count("mprof: ") == 1 and "MPROF_OUTPUT" in nowhere.stderr,
      f"a folder that is not there: {nowhere.returncode} {nowhere.stderr!r}")

bad = subprocess.run([endings, "return"], capture_output=True, text=True, env={
    **os.environ, "MPROF_OPTIONS": "depth=many", "LD_PRELOAD": recording.BUILD + "/lib/libmprof.so"})
check(bad.returncode == 0 and '"depth=many" is not understood' in bad.stderr, f"bad options: {bad.stderr!r}")

if os.geteuid() == 0:
    disk = recording.folder("disk-small")
    mounted = True
    for pages in places:
        mounted = mounted and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4 * pages}k", "tmpfs", disk],
                                             capture_output=True).returncode == 0
        if not mounted:
            print("no tmpfs here: the full disk was not tried")
            break
        try:
            run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", "--min-free=0", "-o", disk + "/trace.bin",
                                  endings, "many"], capture_output=True, text=True)
            check_stopped(run, "disk-full", recording.trace_text.Trace(disk + "/trace.bin"), "the disk is full")
            check_ingested(f"a disk of {pages} pages", disk + "/trace.bin")
            subprocess.run(["mount", "-o", "remount,ro", disk])
            run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", "-o", disk + "/other.bin", endings,
                                  "return"], capture_output=True, text=True)
            check(run.returncode == 0 and "nothing is recorded" in run.stderr, f"read-only: {run.stderr!r}")
        finally:
            subprocess.run(["umount", "-l", disk])
    for size, options, kept in ((1500, [], 75), (1500, ["--min-free=20%"], 300), (3000, ["--min-free=2M"], 2048),
                                (1500, ["--min-free=1G"], 1500), (100, [], 5)):
        if mounted and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk]).returncode == 0:
            run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", *options, "-o", disk + "/trace.bin",
                                  endings, "many"], capture_output=True, text=True)
            check_stopped(run, "disk-full", recording.trace_text.Trace(disk + "/trace.bin"), "--min-free")
            left = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize >> 10
            # The file header is always there, and mprof-run's samples may take two pages.
            check(min(kept, size - 4) - 8 <= left <= kept + 2 * 64, f"{size} KiB {options}: {left} KiB are left, not {kept}")
            check_ingested(f"{size} KiB {options}", disk + "/trace.bin")
            subprocess.run(["umount", "-l", disk])
    # Many processes of one run give one line, even on a disk that is full from the start.
    many = f"{endings} many; for i in 1 2 3 4 5 6; do {endings} return & {endings} return; done; wait"
    for size, options, before in ((1500, ["--min-free=0"], 0), (1500, [], 0), (64, ["--min-free=0"], 64), (80, [], 64)):
        if mounted and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk]).returncode == 0:
            with open(disk + "/filled", "wb") as file:
                file.write(bytes(before << 10))
            for again in range(2):  # the second run finds the traces of the first
                run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", "--force", *options, "-o",
                                      disk + "/trace.bin", "/bin/sh", "-c", many], capture_output=True, text=True)
                lines = [line for line in run.stderr.splitlines() if line.startswith("mprof: ")]
                check(run.returncode == 0 and len(lines) == 1, f"{size} KiB {options}, {before} used: {run.stderr!r}")
            subprocess.run(["umount", "-l", disk])
else:
    print("not root: the full disk was not tried")

# The working directory does not exist any more.
temporary = recording.folder("disk-temporary")
for name, options in ((None, []), ("named.bin", ["-o", "some/named.bin"])):
    os.makedirs("disk-gone")
    run = subprocess.run(["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", recording.BUILD + "/bin/mprof-run", "--quiet",
                          *options, endings, "return"], capture_output=True, text=True, cwd="disk-gone",
                         env={**os.environ, "TMPDIR": temporary})
    traces = os.listdir(temporary)
    check(run.returncode == 0 and run.stderr.count("\n") == 1 and temporary in run.stderr and len(traces) == 1,
          f"a folder that was removed: {run} {traces}")
    check(traces == [name] or (not name and traces[0].startswith("mprof.endings.")), f"the trace is {traces}")
    trace = recording.trace_text.Trace(f"{temporary}/{traces[0]}")
    check(trace.header["state"] == "ended", f"the trace of a folder that was removed: {trace.header}")
    os.unlink(f"{temporary}/{traces[0]}")
recording.done()
