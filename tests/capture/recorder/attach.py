# SPDX-License-Identifier: BSD-2-Clause
"""mprof-run --pid records a process that runs already. Everything that the process does from then on is
recorded with its stack, what it had before is unseen and never unmatched, and the process itself does not
notice: its registers, errno, threads, forks, loads and exceptions are as without. A process that cannot be recorded gives one line and is left alone. MPROF_SOAK=1 attaches 20 times for 2 seconds each, also to
python3 and to redis-server under load."""
import atexit
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import recording
from recording import BUILD, check, done, folder, program

RUN = BUILD + "/bin/mprof-run"
PLUGIN = program("attached_plugin.so")
SOAK = os.environ.get("MPROF_SOAK") == "1"
TIMES, SECONDS = (20, 2) if SOAK else (3, 0.3)
FOLDER = folder("attach")


class Target:
    """A process that says "ready" when it has begun."""

    def __init__(self, arguments, **keywords):
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=FOLDER, **keywords)
        self.pid = self.process.pid
        atexit.register(self.process.kill)  # what a failed test leaves would keep ctest waiting
        check(self.process.stdout.readline() == "ready\n", f"{arguments} begins")

    def end(self, number=None):
        if number:
            self.process.send_signal(number)
        said = self.process.communicate(timeout=60)[0]
        check(self.process.returncode == 0 and said.startswith("ok"), f"unharmed: {self.process.returncode} {said}")
        return said


class Attached(Target):
    """tests/programs/attached/attached.c, steered by files."""

    def __init__(self, name, *modes, binary="attached", before=(), **keywords):
        self.folder = folder(f"{FOLDER}/{name}")
        self.done = 0
        super().__init__([*before, program(binary), self.folder, *modes], **keywords)

    def work(self):
        self.done += 1
        open(f"{self.folder}/{self.done}", "w").close()
        wait_until(lambda: os.path.exists(f"{self.folder}/{self.done}.done"))

    def end(self, number=None):
        open(f"{self.folder}/end", "w").close()
        super().end(number)


class Recorder:
    """mprof-run --pid, until it is ended."""

    def __init__(self, target, trace, *options):
        self.trace = trace
        self.process = subprocess.Popen([RUN, "--pid", str(target.pid), "-o", trace, *options], text=True,
                                        stderr=subprocess.PIPE, cwd=FOLDER)
        self.said = self.process.stderr.readline()
        check(f"recording process {target.pid}" in self.said, f"{trace}: {self.said}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.rest = self.process.communicate(timeout=60)[1]
        check(self.process.returncode == 0, f"{self.trace}: {self.process.returncode} {self.rest}")


def wait_until(true, seconds=30):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.002)
    check(true(), "in time")


def session(trace):
    path = trace + ".db"
    run = subprocess.run([BUILD + "/bin/mprof-ingest", "-q", "-f", "-o", path, trace], capture_output=True, text=True)
    check(run.returncode == 0, f"{trace}: {run.stderr}")
    return sqlite3.connect(path)


def meta(rows, key):
    row = rows.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row and row[0]


def check_pairs(rows, name):
    for key in ("unmatched_frees", "double_frees", "overlaps", "dropped_events", "damaged_bytes", "orphaned_stacks"):
        check(meta(rows, key) == 0, f"{name}: {key} is {meta(rows, key)}")


def refused(name, words, *arguments, status=1, **keywords):
    run = subprocess.run([RUN, *arguments], capture_output=True, text=True, timeout=60, cwd=FOLDER, **keywords)
    check(run.returncode == status, f"{name}: status {run.returncode}")
    check(run.stderr.count("\n") == 1 and words in run.stderr, f"{name}: {run.stderr}")


# Exact sums, twice in one process, at a fixed address and elsewhere.
for binary in ("attached", "attached_fixed"):
    target = Attached(binary, binary=binary)
    for time_of in (1, 2):
        recorder = Recorder(target, f"{FOLDER}/{binary}.{time_of}.bin")
        target.work()
        wait_until(lambda: all(words in open(f"/proc/{recorder.process.pid}/status").read()
                               for words in ("NoNewPrivs:\t1", "CapAmb:\t" + 16 * "0")))  # it gives up what it does not need
        check("NoNewPrivs:\t1" not in open(f"/proc/{target.pid}/status").read() or
              "NoNewPrivs:\t1" in open("/proc/self/status").read(), "the process keeps its rights")
        refused("recorded already", "is recorded already, into", "--pid", str(target.pid), "-o", "other.bin")
        recorder.end()
        target.work()  # nobody records it
        rows = session(recorder.trace)
        name = f"{binary}, time {time_of}"
        check_pairs(rows, name)
        check(meta(rows, "ending") == "stopped", f"{name}: {meta(rows, 'ending')}")
        sums = rows.execute("SELECT count(*), sum(free_ns IS NULL) FROM v_allocation WHERE size = 777 AND function = 'work'").fetchone()
        check(sums == (1000, 10), f"{name}: {sums}")
        copies = rows.execute("SELECT count(*), sum(free_ns IS NULL) FROM v_allocation WHERE size = 30").fetchone()
        check(copies == (50, 0), f"{name}: copies by the C library {copies}")
        # And perhaps the stream of the file that says so.
        check(meta(rows, "unseen_frees") in (100, 101), f"{name}: unseen {meta(rows, 'unseen_frees')}")
        check((meta(rows, "before_bytes") or 0) >= 333 * 700, f"{name}: before {meta(rows, 'before_bytes')}")
        check("before: 0.3 MiB, no stacks" in recorder.said or "before: 0.2 MiB, no stacks" in recorder.said, f"{name}: {recorder.said}")
        outer = rows.execute("SELECT count(*) FROM v_stack WHERE function = 'main'").fetchone()[0]
        check(outer > 0, f"{name}: stacks that begin in main")
    target.end()

# The C library has been replaced since the process began.
upgraded = folder(FOLDER + "/upgraded")
library = next(line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith("/libc.so.6"))
shutil.copy(library, upgraded)
target = Attached("replaced", env=dict(os.environ, LD_LIBRARY_PATH=upgraded))
os.remove(upgraded + "/libc.so.6")
recorder = Recorder(target, f"{FOLDER}/replaced.bin")
target.work()
recorder.end()
check(upgraded + "/libc.so.6 (deleted)" in open(f"/proc/{target.pid}/maps").read(), "replaced: the removed C library is in use")
target.end()
check(session(recorder.trace).execute("SELECT count(*) FROM allocation WHERE size = 777").fetchone()[0] == 1000, "replaced: its blocks")
if os.geteuid() == 0:  # a user may not read the removed file
    HOME = "/tmp/mprof-attach-%d" % os.getpid()
    os.mkdir(HOME)
    os.chown(HOME, 65534, 65534)
    shutil.copy(library, upgraded)
    target = Target([program("attached"), HOME], env=dict(os.environ, LD_LIBRARY_PATH=upgraded), user=65534)
    os.remove(upgraded + "/libc.so.6")
    refused("replaced, as a user", "its C library has been replaced", "--pid", str(target.pid), "-o", HOME + "/no.bin", user=65534)
    open(HOME + "/end", "w").close()
    target.end()

# A plug-in that comes later: its constructor is over when its slots are changed.
target = Attached("plugin", "plugin=" + PLUGIN)
recorder = Recorder(target, f"{FOLDER}/plugin.bin")
target.work()
recorder.end()
target.end()
rows = session(recorder.trace)
check_pairs(rows, "plugin")
check(rows.execute("SELECT count(*) FROM allocation WHERE size = 555").fetchone()[0] == 200, "plugin: its blocks")
check(PLUGIN in (meta(rows, "late_modules") or ""), f"plugin: named as late: {meta(rows, 'late_modules')}")

# A program that never waits and calls realloc alone, as Lua does. It is recorded and left, twice.
target = Attached("reallocs", "reallocs")
for time_of in (1, 2):
    recorder = Recorder(target, f"{FOLDER}/reallocs.{time_of}.bin")
    time.sleep(0.1)
    recorder.end()
    rows = session(recorder.trace)
    check_pairs(rows, f"reallocs, time {time_of}")
    check(rows.execute("SELECT count(*) > 1000 FROM v_allocation WHERE kind = 'realloc' AND function = 'resize_until_end'").fetchone()[0],
          f"reallocs, time {time_of}: its blocks")
target.end()

# A child that was forked meanwhile is left, too: it can be recorded again.
target = Attached("forks", "forks")
recorder = Recorder(target, f"{FOLDER}/forks.bin")
target.work()
wait_until(lambda: os.path.isdir(recorder.trace + ".d") and os.listdir(recorder.trace + ".d"))
child = os.listdir(recorder.trace + ".d")[0]
recorder.end()
check(not recorder.rest.count("still go"), f"forks: {recorder.rest}")
check(meta(session(f"{recorder.trace}.d/{child}"), "ending") == "stopped", "forks: the child's recording has ended")
run = subprocess.run([RUN, "-q", "--pid", child, "--duration", "0.2", "-o", FOLDER + "/child.bin"], capture_output=True, text=True)
check(run.returncode == 0 and not run.stderr, f"forks: the child again: {run}")
check(session(FOLDER + "/child.bin").execute("SELECT count(*) > 0 FROM allocation WHERE size = 99").fetchone()[0], "forks: its blocks")
target.end()

# Children that were forked while another thread used the loader: nobody can load anything there. The recording ends
# from outside, and the child goes on.
for mode in ("half", "locked"):
    target = Attached(mode, mode)
    recorder = Recorder(target, f"{FOLDER}/{mode}.bin")
    target.work()
    wait_until(lambda: os.path.isdir(recorder.trace + ".d") and os.listdir(recorder.trace + ".d"))
    child = os.listdir(recorder.trace + ".d")[0]
    recorder.end()
    words = "it was forked while another thread used the loader"
    check(recorder.rest.count("still go") == 1 and f"process {child}: " in recorder.rest and words in recorder.rest, f"{mode}: {recorder.rest}")
    rows = session(f"{recorder.trace}.d/{child}")
    check_pairs(rows, mode)
    check(meta(rows, "ending") == "stopped", f"{mode}: {meta(rows, 'ending')}")
    check(rows.execute("SELECT count(*) > 0 FROM allocation WHERE size = 99").fetchone()[0], f"{mode}: its blocks")
    refused(f"{mode}, again", words, "--pid", child, "-o", "no.bin")
    target.end()

# A title that the program wrote over its arguments is not followed by empty ones.
target = Attached("titled", "titled")
recorder = Recorder(target, f"{FOLDER}/titled.bin")
recorder.end()
target.end()
argv = meta(session(recorder.trace), "argv")
check(argv == "'titled: waits'", f"titled: {argv}")

# The recorder's file is in a place that the process does not see.
hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', os.path.realpath(BUILD + "/lib")]
if subprocess.run([*hidden, "true"], capture_output=True).returncode == 0:
    target = Attached("hidden", before=hidden)
    for time_of in (1, 2):
        recorder = Recorder(target, f"{FOLDER}/hidden.{time_of}.bin")
        target.work()
        recorder.end()
        check("still go" not in recorder.rest, f"hidden: {recorder.rest}")
        rows = session(recorder.trace)
        check(rows.execute("SELECT count(*) FROM allocation WHERE size = 777").fetchone()[0] == 1000, f"hidden, time {time_of}: its blocks")
    target.end()
    apart = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /mnt && exec "$@"', "x"]
    target = Attached("apart", before=apart)
    refused("another folder", "does not see the folder of", "--pid", str(target.pid), "-o", "/mnt/none/x.bin")
    recorder = Recorder(target, f"/proc/{target.pid}/root/mnt/x.bin")
    target.work()
    recorder.end()
    rows = session(shutil.copy(recorder.trace, f"{FOLDER}/apart.bin"))
    check(rows.execute("SELECT count(*) FROM allocation WHERE size = 777").fetchone()[0] == 1000, "apart: its blocks")
    target.end()
else:
    print("skipped: file systems of processes, which this machine does not allow to change")

# Filters of system calls: one that the recorder can do without, and one that it cannot.
target = Attached("filtered", "kills=318")  # getrandom
recorder = Recorder(target, f"{FOLDER}/filtered.bin")
target.work()
recorder.end()
target.end()
rows = session(recorder.trace)
check(rows.execute("SELECT count(*) FROM allocation WHERE size = 777").fetchone()[0] == 1000, "filtered: its blocks")
target = Attached("forbidden", "kills=10")  # mprotect
refused("a filter", "its filter of system calls forbids", "--pid", str(target.pid), "-o", "no.bin")
target.end()

# Everything at once, attached and left again and again. The threads really ran: the program says so.
target = Target([program("attached_stress"), "3000", PLUGIN])
for time_of in range(TIMES):
    trace = f"{FOLDER}/stress.{time_of}.bin"
    run = subprocess.run([RUN, "-q", "-p", str(target.pid), "--duration", str(SECONDS), "-o", trace], capture_output=True, text=True)
    check(run.returncode == 0 and not run.stderr, f"stress: {run}")
    rows = session(trace)
    check_pairs(rows, f"stress, time {time_of}")
    check((meta(rows, "allocations") or 0) > 1000, f"stress: {meta(rows, 'allocations')}")

# mprof-run is killed in the middle of its work.
for time_of in range(4 * TIMES):
    run = subprocess.Popen([RUN, "-q", "-p", str(target.pid), "-f", "-o", f"{FOLDER}/killed.bin"], stderr=subprocess.DEVNULL)
    time.sleep(random.random() * 0.05)
    run.kill()
    run.wait()
    # Once it records, somebody else ends that.
    subprocess.run([BUILD + "/bin/mprof-ctl", "stop", str(target.pid)], capture_output=True)
    check(target.process.poll() is None, "killed mprof-run: the process goes on")
target.end(signal.SIGTERM)

# The process ends while mprof-run is at work. Neither its parent nor mprof-run waits for ever.
for time_of in range(20 * TIMES):
    target = Target([program("attached_stress"), "60", PLUGIN])
    run = subprocess.Popen([RUN, "-q", "-p", str(target.pid), "-f", "-o", f"{FOLDER}/gone.bin"], stderr=subprocess.PIPE, text=True)
    time.sleep(random.random() * 0.03)
    target.process.kill()
    target.process.wait(timeout=60)
    said = run.communicate(timeout=60)[1]
    check(run.returncode in (0, 1) and said.count("\n") == run.returncode and "none of its threads" not in said, f"gone: {run.returncode} {said}")

# Programs that cannot be recorded.
refused("no such process", "there is no such process", "--pid", "4194304", "-o", "no.bin")
refused("no number", "is not the number of a process", "--pid", "x", status=2)
refused("a program", "give no program", "--pid", "1", "ls", status=2)
refused("a condition", "cannot be used with --start-on", "--pid", "1", "--start-on=signal", status=2)
target = Attached("handles", "handles")  # which may have interrupted malloc
refused("in a signal handler", "none of its threads came to a point", "--pid", str(target.pid), "-o", "no.bin")
target.end()
target = Attached("stopped")
target.process.send_signal(signal.SIGSTOP)
wait_until(lambda: open(f"/proc/{target.pid}/stat").read().rsplit(")", 1)[1].split()[0] == "T")
refused("stopped", "it is stopped", "--pid", str(target.pid), "-o", "no.bin")
target.process.send_signal(signal.SIGCONT)
refused("a folder that is not there", "does not see the folder", "--pid", str(target.pid), "-o", FOLDER + "/none/no.bin")
tracer = subprocess.Popen([sys.executable, "-c", f"""
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
print(libc.ptrace(0x4206, {target.pid}, 0, 0), flush=True)
sys.stdin.read()"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
check(tracer.stdout.readline() == "0\n", "a tracer")
refused("traced", f"process {tracer.pid} traces it already", "--pid", str(target.pid), "-o", "no.bin")
tracer.communicate("")
if os.geteuid() == 0:
    refused("not allowed", "mprof-run as", "--pid", str(target.pid), "-o", HOME + "/x.bin", user=65534)
    shutil.rmtree(HOME)
recorder = Recorder(target, f"{FOLDER}/after.bin")  # after all that
target.work()
recorder.end()
target.end()
static = subprocess.run(["gcc", "-static", "-o", FOLDER + "/static", "-x", "c", "-"], text=True, capture_output=True,
                        input='#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts("ready"); fflush(stdout); getchar(); puts("ok"); }')
check(static.returncode == 0, f"a static program: {static.stderr}")
for name, build in (("static", None), ("musl", ["musl-gcc", "-o", FOLDER + "/musl", "-x", "c", "-"])):
    if build:
        text = '#include <stdio.h>\nint main(void) { puts("ready"); fflush(stdout); getchar(); puts("ok"); }'
        check(subprocess.run(build, text=True, input=text, capture_output=True).returncode == 0, "a program of musl")
    target = Target([f"{FOLDER}/{name}"], stdin=subprocess.PIPE)
    refused(name, "static program" if name == "static" else "does not run on glibc", "--pid", str(target.pid), "-o", "no.bin")
    target.end()


def soak(name, pid, seconds=SECONDS):
    """Attaches again and again; the sessions have no oddities."""
    for time_of in range(TIMES):
        trace = f"{FOLDER}/{name}.bin"
        run = subprocess.run([RUN, "-q", "-f", "-p", str(pid), "--duration", str(seconds), "-o", trace], capture_output=True, text=True)
        check(run.returncode == 0 and not run.stderr, f"{name}: {run}")
        rows = session(trace)
        check_pairs(rows, f"{name}, time {time_of}")
        check((meta(rows, "allocations") or 0) > 0, f"{name}: events")


if SOAK:
    text = """
import json
print("ready", flush=True)
for n in range(10 ** 9):
    data = json.loads('{"a": %s, "b": "%s"}' % (list(range(500)), "x" * 1000))
    assert sum(data["a"]) == 124750
    try:
        input() if n % 100 == 0 and __import__("select").select([0], [], [], 0)[0] else None
    except EOFError:
        break
print("ok")
"""
    target = Target([sys.executable, "-c", text], stdin=subprocess.PIPE)
    soak("python3", target.pid)
    target.end()
    sockets = tempfile.TemporaryDirectory()  # the path of a socket has at most 107 bytes
    socket_path = sockets.name + "/redis"
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket_path, "--save", ""], stdout=subprocess.DEVNULL)
    wait_until(lambda: os.path.exists(socket_path))
    load = subprocess.Popen(["redis-benchmark", "-s", socket_path, "-n", "1000000000", "-t", "set,get,lpush", "-d", "300",
                             "-r", "100000", "-q"], stdout=subprocess.DEVNULL)
    time.sleep(1)
    soak("redis-server", server.pid)
    check(subprocess.run(["redis-cli", "-s", socket_path, "ping"], capture_output=True, text=True).stdout == "PONG\n", "redis-server answers")
    load.kill()
    load.wait()
    subprocess.run(["redis-cli", "-s", socket_path, "shutdown", "nosave"], capture_output=True)
    check(server.wait(timeout=60) == 0, "redis-server ends well")

done()
