"""No room: a full disk, a file size limit, a folder that cannot be written. One message, a counted
loss, and the program goes on."""
import os
import resource
import struct
import subprocess

import recording
from recording import Recording, check
from steps import STATE, Steps

CHUNK_COUNT, FREED_BYTES, LIMIT = 96, 408, 3  # in the file header

endings = recording.program("endings")


def check_stopped(one, state, trace):
    check(one.returncode == 0, f"{state}: the program ended with {one.returncode}")
    lines = [line for line in one.stderr.splitlines() if line.startswith("mprof: ")]
    check(len(lines) == 1 and "recording stops" in lines[0], f"{state}: said {one.stderr!r}")
    check(trace.header["state"] == state, f"{state}: the header says {trace.header['state']}")
    check(not trace.damage, f"{state}: {trace.damage}")
    recorded = sum(len(thread.events()) for thread in trace.threads.values())
    lost = int(trace.header["dropped"])
    check(recorded + lost >= 400200 and lost > 0, f"{state}: {recorded} recorded, {lost} counted as lost")
    # Beside the program's own calls the C library makes a few.
    check(recorded + lost < 400300, f"{state}: {recorded} recorded and {lost} lost are too many")


def check_ingested(state, path):
    ingested = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", folder + "/session.db", "--force",
                               path], capture_output=True, text=True)
    check(ingested.returncode == 0, f"{state}: ingest: {ingested.stderr}")


PAGE, CHUNK_PAGES = 4096, 16
folder = recording.folder("disk-session")
# Where the room ends: before, at and behind each boundary of a header and the first chunks.
places = [1 + CHUNK_PAGES * chunks + more for chunks in range(4) for more in (0, 1, 15)]

for pages in places:
    limited = Recording("disk-out", [endings, "many"], preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (pages * PAGE, pages * PAGE)))
    check_stopped(limited.run, "limit", limited.main)
    check(os.path.getsize(limited.path) <= pages * PAGE, f"limit of {pages} pages: {os.path.getsize(limited.path)} bytes")
    check_ingested(f"limit of {pages} pages", limited.path)
none = Recording("disk-out", [endings, "return"],
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
check(none.run.returncode == 0 and none.run.stderr.count("mprof: ") == 1 and "nothing is recorded" in none.run.stderr
      and not none.traces, f"not even room for a header: {none.run}")

sized = Recording("disk-out", [endings, "many"], run_options=["--max-size=400K"])
check_stopped(sized.run, "limit", sized.main)
check(os.path.getsize(sized.path) <= 464 << 10, f"--max-size=400K: {os.path.getsize(sized.path)} bytes")

# What an observer has given back does not count.
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

# A quota, by a filter that answers so from some place on in the file: it stands for one of the file system.
EDQUOT, FALLOCATE = "122", "285"
for place in (PAGE, PAGE + 1, 3 * CHUNK_PAGES * PAGE):
    limited = recording.folder("disk-out")
    run = subprocess.run([recording.program("sandboxed"), EDQUOT, f"{FALLOCATE}@{place}", recording.BUILD + "/bin/mprof-run",
                          "--quiet", "-o", limited + "/trace.bin", endings, "many"], capture_output=True, text=True)
    check_stopped(run, "disk-full", recording.trace_text.Trace(limited + "/trace.bin"))
    check("quota" in run.stderr, f"a quota of {place} bytes: said {run.stderr!r}")
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
            run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", "-o", disk + "/trace.bin", endings,
                                  "many"], capture_output=True, text=True)
            check_stopped(run, "disk-full", recording.trace_text.Trace(disk + "/trace.bin"))
            check_ingested(f"a disk of {pages} pages", disk + "/trace.bin")
            subprocess.run(["mount", "-o", "remount,ro", disk])
            run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", "-o", disk + "/other.bin", endings,
                                  "return"], capture_output=True, text=True)
            check(run.returncode == 0 and "nothing is recorded" in run.stderr, f"read-only: {run.stderr!r}")
        finally:
            subprocess.run(["umount", "-l", disk])
else:
    print("not root: the full disk was not tried")
recording.done()
