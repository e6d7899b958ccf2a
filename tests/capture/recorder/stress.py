# SPDX-License-Identifier: BSD-2-Clause
"""Compares the stress program's own log with its trace: every call, address, size, alignment, thread and its
order, and its stack, of the parent and of each forked child. No address lives twice at once."""
import bisect
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
musl = sys.argv[1:] == ["musl"]
for setting in sys.argv[1:]:
    if not musl:
        name, value = setting.split("=", 1)
        environment[name] = value
program, plugin = build + "/tests/stress", build + "/tests/stress_plugin.so"
if musl:
    if not shutil.which("musl-gcc"):
        print("no musl-gcc here")
        sys.exit(77)
    source = os.environ["MPROF_SOURCE"]
    options = ["musl-gcc", "-D_GNU_SOURCE", "-O2", "-fno-builtin", "-fno-optimize-sibling-calls", "-I" + source, "-Wl,--eh-frame-hdr"]
    program, plugin = folder + "/stress", folder + "/plugin.so"
    subprocess.run([*options, "-o", program, source + "/tests/programs/stress.c"], check=True)
    subprocess.run([*options, "-shared", "-fPIC", "-o", plugin, source + "/tests/programs/stress_plugin.c"], check=True)
run = subprocess.run([build + "/bin/mprof-run", "--quiet", "-o", trace, program, folder, plugin, "8", "20000", "7"],
                     env=environment)
if run.returncode != 0:
    sys.exit(f"stress ended with {run.returncode}")

class Paths:
    """Reads from a stack which path the program took: the numbers of its functions path_N."""

    def __init__(self):
        names = subprocess.run(["nm", "--defined-only", program], capture_output=True,
                               text=True, check=True).stdout
        symbols = sorted((int(word[0], 16), word[2]) for word in map(str.split, names.splitlines())
                         if word[1] in "tT")
        self.addresses = [address for address, _ in symbols]
        self.names = [name for _, name in symbols]
        self.known = {}

    def read(self, trace, stack):
        """Returns the path as own_log.h has it, or None if the stack is not complete."""
        key = trace.path, stack
        if key not in self.known:
            self.known[key] = self.expand(trace.frames(stack))
        return self.known[key]

    def expand(self, frames):
        path, outermost = 1, ""
        for module, value in frames:
            outermost = module
            if module == program:
                name = self.names[bisect.bisect_right(self.addresses, value - 1) - 1]
                if name.startswith("path_"):
                    path = path << 4 | int(name[5:])
        # The outermost frame is the start of a thread or of the program.
        return path if os.path.basename(outermost) in ("libc.so.6", "libc.so", "ld-musl-x86_64.so.1", "stress") else None


def compare_stacks(trace, log, stacks):
    """Returns the number of compared stacks, and the first difference or None."""
    count = 0
    for at, (path, stack) in enumerate(zip(log.paths, stacks)):
        if path and stack is not None:
            found = paths.read(trace, stack)
            if found != path:
                return count, f"thread {log.tid}: call {at} came by path {path:x}, its stack {stack} shows {found}"
            count += 1
    return count, None


paths = Paths()
with_stacks = "unwind=off" not in environment.get("MPROF_OPTIONS", "")
stacks_compared = 0
fast = "fast" in environment.get("MPROF_OPTIONS", "")
wrong, compared = [], 0
parent = None
traces = {}
for path in [trace] + glob.glob(trace + ".d/*"):
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
        if with_stacks and log.strict:
            count, difference = compare_stacks(traces[process], log, threads[log.tid].event_stacks())
            stacks_compared += count
            if difference:
                wrong.append(f"process {process}: {difference}")
print(f"{len(traces)} traces, {sum(len(l) for l in logs.values())} threads, {compared} calls and "
      f"{stacks_compared} stacks in {len(paths.known)} contexts compared")
if len(traces) != 6 or compared < 160000 or (with_stacks and stacks_compared < 80000):
    wrong.append("that is not the whole run")
for line in wrong[:40]:
    print(line)
sys.exit(1 if wrong else 0)
