"""--compress: the trace is a third of what it would be, complete, and so are those of children; it stays
complete when the program is killed, and alone when it cannot be compressed."""
import os
import signal
import subprocess

import recording
import trace_text
from recording import Recording, check

DENSE = 16


def dense(trace):
    return int(trace.header["flags"]) & DENSE



plain = Recording("compress-plain", [recording.program("endings"), "many"])
packed = Recording("compress-packed", [recording.program("endings"), "many"], run_options=["--compress"])
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

# Killed: the calls that the program had counted are in the compressed trace.
folder = recording.folder("compress-killed")
path = folder + "/trace.bin"
run = subprocess.Popen(
    [recording.BUILD + "/bin/mprof-run", "--quiet", "--compress", "-o", path, recording.program("stress"), folder,
     recording.program("stress_plugin.so"), "4", "100", "7", "forever"])
while run.poll() is None and trace_text.own_count(folder) < 20000:
    pass
os.kill(int(subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout), signal.SIGKILL)
run.wait()
check(run.returncode == -signal.SIGKILL, f"ended by {run.returncode}")
trace = trace_text.Trace(path)
check(dense(trace) and trace.header["state"] == "recording", f"killed: {trace.header}")
threads = trace.by_tid()
compared = 0
for logs in trace_text.own_logs(folder).values():
    for log in logs:
        if log.events and log.tid in threads:
            difference = trace_text.compare(log, threads[log.tid].events(), killed=True)
            check(not difference, f"killed: {difference}")
            compared += len(log.events)
check(compared >= 20000, f"killed: only {compared} calls compared")
recording.done()
