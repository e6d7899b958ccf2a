"""The stress program's own count against its trace: every call, address, size, alignment, thread
and its order, of the parent and of each forked child; and no address lives twice."""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import trace_text

build = os.environ["MPROF_BUILD"]
folder = os.path.abspath("stress-out" + "".join(sys.argv[1:]))
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
trace = folder + "/trace.bin"
environment = dict(os.environ)
for setting in sys.argv[1:]:
    name, value = setting.split("=", 1)
    environment[name] = value
run = subprocess.run([build + "/bin/mprof-run", "--quiet", "-o", trace, build + "/tests/stress", folder,
                      build + "/tests/stress_plugin.so", "8", "20000", "7"], env=environment)
if run.returncode != 0:
    sys.exit(f"stress ended with {run.returncode}")

fast = "fast" in environment.get("MPROF_OPTIONS", "")
wrong, compared = [], 0
parent = None
traces = {}
for path in [trace] + glob.glob(trace + ".*"):
    one = trace_text.Trace(path)
    traces[int(one.header["pid"])] = one
    wrong += [f"{path}: {line}" for line in one.complain()]
    if not fast:
        wrong += [f"{path}: {line}" for line in one.overlaps(unknown_frees=path != trace)[:5]]
logs = trace_text.own_logs(folder)
for process, process_logs in logs.items():
    threads = traces[process].by_tid()
    for log in process_logs:
        if log.tid not in threads:
            wrong.append(f"process {process}: thread {log.tid} is not in its trace")
            continue
        difference = trace_text.compare(log, threads[log.tid].events())
        if difference:
            wrong.append(f"process {process}: {difference}")
        compared += len(log.events)
print(f"{len(traces)} traces, {sum(len(l) for l in logs.values())} threads, {compared} calls compared")
if len(traces) != 6 or compared < 160000:
    wrong.append("that is not the whole run")
for line in wrong[:40]:
    print(line)
sys.exit(1 if wrong else 0)
