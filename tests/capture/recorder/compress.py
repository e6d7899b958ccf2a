# SPDX-License-Identifier: BSD-2-Clause
"""--compress: the traces of the program and its children are a third of their size, and complete. They stay
complete when the program or mprof-run is killed. Packing while the program runs keeps the disk nearly free
of uncompressed chunks."""
import os
import signal
import struct
import subprocess
import time

import recording
import trace_text
from recording import Recording, check

DENSE = 16


def dense(trace):
    return int(trace.header["flags"]) & DENSE



plain = Recording("compress-plain", [recording.program("endings"), "many", "60000"])
packed = Recording("compress-packed", [recording.program("endings"), "many", "60000"], run_options=["--compress"])
recording.check_sound(packed)
check(packed.run.returncode == 0 and not packed.run.stderr, f"said {packed.run.stderr!r}")
check(dense(packed.main) and not packed.main.damage, f"dense: {packed.main.header} {packed.main.damage}")
check(recording.sizes(packed.main) == recording.sizes(plain.main), "other allocations than without --compress")
before, after = os.path.getsize(plain.path), os.path.getsize(packed.path)
check(after * 3 < before, f"{after} bytes, uncompressed {before}")
left = [name for name in os.listdir(packed.folder) if name.endswith(".part")]
check(not left, f"left behind: {left}")

family = Recording("compress-family", [recording.program("forks"), "many", "20"], run_options=["--compress"])
recording.check_sound(family)
check(family.others, "no traces of children")
for path, trace in family.traces.items():
    check(dense(trace) and not trace.damage, f"{path}: {trace.header} {trace.damage}")

def run_stress(name):
    folder = recording.folder(name)
    path = folder + "/trace.bin"
    run = subprocess.Popen(
        [recording.BUILD + "/bin/mprof-run", "--quiet", "--compress", "-o", path, recording.program("stress"), folder,
         recording.program("stress_plugin.so"), "4", "100", "7", "forever"])
    while run.poll() is None and trace_text.own_count(folder) < 5000:
        time.sleep(0.001)
    return folder, path, run


def child_of(run):
    with open(f"/proc/{run.pid}/task/{run.pid}/children") as children:
        return int(children.read().split()[0])


def compare(name, folder, path):
    trace = trace_text.Trace(path)
    check(not trace.damage, f"{name}: {trace.damage}")
    threads, compared = trace.by_tid(), 0
    for logs in trace_text.own_logs(folder).values():
        for log in logs:
            if log.events and log.tid in threads:
                difference = trace_text.compare(log, threads[log.tid].events(), killed=True)
                check(not difference, f"{name}: {difference}")
                compared += len(log.events)
    check(compared >= 5000, f"{name}: only {compared} calls compared")
    return trace


# The program is killed: the calls that it had counted are in the compressed trace.
folder, path, run = run_stress("compress-killed")
os.kill(child_of(run), signal.SIGKILL)
run.wait()
check(run.returncode == -signal.SIGKILL, f"ended by {run.returncode}")
trace = compare("killed", folder, path)
check(dense(trace) and trace.header["state"] == "recording", f"killed: {trace.header}")

# mprof-run is killed: the chunks that it had packed stay packed, the rest is as the program wrote it. Until
# then the disk held the compressed chunks and a few that were not compressed yet. The program rests now and
# then, so the trace stays small even if the packing gets little processor time.
folder = recording.folder("compress-alone")
path = folder + "/trace.bin"
run = subprocess.Popen(
    [recording.BUILD + "/bin/mprof-run", "--quiet", "--compress", "-o", path, "perl", "-e",
     "while (1) { push @a, 'x' x 90; if (@a > 1000) { @a = (); select undef, undef, undef, 0.001 } }"])


def packed_while_running():
    if not os.path.exists(path) or os.path.getsize(path) < 1 << 20:
        return False
    return os.stat(path).st_blocks * 512 < os.path.getsize(path) // 2


while run.poll() is None and not packed_while_running():
    time.sleep(0.001)
program = child_of(run)
live = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--live", "-o", folder + "/live.db", path],
                      capture_output=True, text=True)
check(live.returncode == 1 and "is being compressed" in live.stderr, f"--live: {live}")
run.kill()
run.wait()
os.kill(program, signal.SIGKILL)
while os.path.exists(f"/proc/{program}/maps") and open(f"/proc/{program}/stat").read().split()[2] != "Z":
    time.sleep(0.001)
# The disk does not hold the freed bytes. File systems keep a few blocks for themselves.
with open(path, "rb") as file:
    freed = struct.unpack("<Q", file.read(416)[408:])[0]
held = os.stat(path).st_blocks * 512
check(abs(os.path.getsize(path) - freed - held) <= (128 << 10), f"{freed} bytes freed, the disk holds {held}")
trace = trace_text.Trace(path)
before = sum(len(thread.events()) for thread in trace.threads.values())
for line in trace.complain() + trace.overlaps(unknown_frees=True) + trace.damage:
    check(False, f"alone: {line}")
check(before > 50000, f"alone: only {before} events")
check(int(trace.header["flags"]) & 24 == 8, f"alone: {trace.header}")
subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--compress", "--quiet", path], check=True)
# Counts without reading the records, which would take seconds.
dump = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--dump", path], capture_output=True, text=True)
lines = [line.split()[:10] for line in dump.stdout.splitlines()]
after = sum(line[0][0] == "@" and line[4] in ("alloc", "free", "realloc") for line in lines)
check(after == before, f"compressed afterwards: {after} events instead of {before}")
check(int(lines[0][lines[0].index("flags") + 1]) & DENSE, f"compressed afterwards: {lines[0]}")

# A process that has ended and was not waited for yet writes no more.
folder = recording.folder("compress-ended")
path = folder + "/trace.bin"
ended = subprocess.Popen([recording.program("endings"), "killed"], env={
    **os.environ, "MPROF_OUTPUT": path, "LD_PRELOAD": recording.BUILD + "/lib/libmprof.so"})
os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
late = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--compress", "--quiet", path], capture_output=True, text=True)
check(late.returncode == 0, f"compressed before it is asked for: {late.stderr}")
ended.wait()
check(dense(trace_text.Trace(path)), "not compressed before it is asked for")
recording.done()
