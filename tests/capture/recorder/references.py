# SPDX-License-Identifier: BSD-2-Clause
"""mprof-ctl references and mprof-run --references: the words that a program is known to hold are in the trace and
nothing else of its memory is; no thread notices that it was stopped. MPROF_SOAK=1: more often."""
import atexit
import os
import re
import shutil
import signal
import subprocess
import time

import recording
from recording import BUILD, check, done, folder, program

CTL, RUN, INGEST = (f"{BUILD}/bin/mprof-{name}" for name in ("ctl", "run", "ingest"))
REPEATED = 100 if os.environ.get("MPROF_SOAK") == "1" else 10
ALL = ("list", "data", "stack", "register", "local", "threads", "calls", "busy", "secret", "tagged")
SECRETS = (b"planted secret", b"secret 9876", bytes.fromhex("c25ee7c25ee7c25e"))
NEVER = 0x7FFFFFFE  # no process has this number


class Snapshot:
    """One snapshot of a dump."""

    def __init__(self, values, name):
        self.values, self.name = values, name
        self.mappings, self.threads, self.words, self.tagged, self.registers, self.end = [], [], {}, set(), {}, None

    def leads(self, to):
        return any(start <= to < end for start, end, kind in self.mappings if kind in (1, 2))


def numbers(line):
    return {key: int(value, 0) for key, value in re.findall(r"([a-z-]+) (0x[0-9a-f]+|[0-9]+)", line)}


def snapshots(trace):
    """Returns the snapshots of a trace."""
    found = []
    dump = subprocess.run([INGEST, "--dump", trace], capture_output=True, text=True, check=True).stdout
    for line in dump.splitlines():
        if " references" not in line or not line.startswith("@"):
            continue
        line = line[line.index(" references"):]
        values = numbers(line)
        if line.startswith(" references number"):
            found.append(Snapshot(values, re.search('name "(.*)"', line)[1]))
        elif line.startswith(" references-mapping"):
            found[-1].mappings.append((values["start"], values["end"], values["kind"]))
        elif line.startswith(" references-thread"):
            found[-1].threads.append(values["tid"])
            found[-1].registers[values["tid"]] = {int(number): int(value, 16) for number, value
                                                  in re.findall(r"r([0-9]+)=(0x[0-9a-f]+)", line)}
        elif line.startswith(" references-words"):
            for where, to, tag in re.findall(r"(0x[0-9a-f]+)=(0x[0-9a-f]+)(\+tag)?", line):
                check(not found[-1].words or int(where, 16) > next(reversed(found[-1].words)), "words ascend")
                found[-1].words[int(where, 16)] = int(to, 16)
                if tag:
                    found[-1].tagged.add(int(where, 16))
        elif line.startswith(" references-end"):
            found[-1].end = values
    for snapshot in found:
        check(snapshot.end and snapshot.end["outcome"] == 0, f"{trace}: {snapshot.name} is complete")
        check(snapshot.end and snapshot.end["words"] == len(snapshot.words), f"{trace}: number of words")
        check(all(snapshot.leads(to) for to in snapshot.words.values()), f"{trace}: all words lead into the heap")
    return found


class Target:
    """tests/programs/references.c under mprof-run."""

    def __init__(self, name, *modes, options=(), run=RUN, command=(), environment=None):
        self.trace = folder("references-" + name) + "/trace.bin"
        self.process = subprocess.Popen(
            [*([run, "--quiet", "-o", self.trace, *options] if run else ()), *command, program("references"), *modes],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        atexit.register(self.process.kill)
        self.known = []
        while (line := self.process.stdout.readline()) != "ready\n" and line:
            self.known.append(line.split())
        self.pid = int.from_bytes(open(self.trace, "rb").read(76)[72:], "little") if os.path.exists(self.trace) else 0

    def end(self, status=23):
        said, errors = self.process.communicate()
        check(self.process.returncode == status and said.endswith("ok\n"),
              f"unharmed: {self.process.returncode} {said[-500:]} {errors[-500:]}")
        return errors

    def ctl(self, *arguments, status=0, said="lead into its heap"):
        run = subprocess.run([CTL, str(self.pid), "references", *arguments], capture_output=True, text=True)
        check(run.returncode == status and said in run.stderr and run.stderr.count("\n") == 1, f"{arguments}: {run}")


def check_known(target, snapshot):
    """All that the program has printed is there."""
    blocks = {}
    for name, where, to in target.known:
        if name == "register":
            check(any(registers.get(12) == int(to, 16) for registers in snapshot.registers.values()), "the register")
        elif name == "slots":
            check_slots(snapshot, int(where, 16), int(to, 16), blocks)
        elif name == "block":
            blocks.setdefault(int(where, 16), []).append(int(to, 16))
        else:
            got = snapshot.words.get(int(where, 16))
            check(got == int(to, 16), f"{name} at {where}: {to}, not {got and hex(got)}")
        if name == "tagged":
            check(int(where, 16) in snapshot.tagged, "it is tagged")
    kinds = {kind for _, _, kind in snapshot.mappings}
    check({1, 2, 3, 4} <= kinds, f"kinds of mappings: {kinds}")


def check_slots(snapshot, start, end, blocks):
    """The writer was stopped in the middle of one turn, so the slots have the new block, then the old one."""
    slots = [snapshot.words.get(at) for at in range(start, end, 8)]
    check(None not in slots and sum(a != b for a, b in zip(slots, slots[1:])) <= 1, f"torn: {slots}")


def check_all():
    target = Target("all", *ALL)
    for i in range(REPEATED):
        target.ctl(f"number {i}")
    target.end()
    taken = snapshots(target.trace)
    check([snapshot.name for snapshot in taken] == [f"number {i}" for i in range(REPEATED)], "names")
    for snapshot in taken:
        check_known(target, snapshot)
        check(len(snapshot.threads) == 1 + 100 + 4 + 1 + 8, f"{len(snapshot.threads)} threads")
    data = open(target.trace, "rb").read()
    for secret in SECRETS:
        check(secret not in data, f"a secret is in the trace: {secret}")


def check_births():
    """Threads begin and end all the time."""
    target = Target("births", "births", "busy", "list")
    for i in range(REPEATED):
        target.ctl()
    target.end()
    for number, snapshot in enumerate(snapshots(target.trace), 1):
        check(snapshot.name == f"references {number}", snapshot.name)
        check_known(target, snapshot)


def state(pid):
    return open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1][0]


def check_stopped():
    """A process that SIGSTOP has stopped stays so."""
    target = Target("stopped", *(mode for mode in ALL if mode != "calls"))  # SIGSTOP itself would disturb them
    os.kill(target.pid, signal.SIGSTOP)
    while state(target.pid) != "T":
        pass
    target.ctl()
    while state(target.pid) != "T":
        pass
    os.kill(target.pid, signal.SIGCONT)
    target.ctl()
    target.end()
    for snapshot in snapshots(target.trace):
        check_known(target, snapshot)


def check_vfork():
    """The parent of a child of vfork() cannot be stopped before that has ended."""
    target = Target("vfork", "vfork", "list")
    target.process.stdin.write("x")
    target.process.stdin.flush()
    while not (children := open(f"/proc/{target.pid}/task/{target.pid}/children").read().split()):
        pass
    target.ctl("--wait=0.2", status=1, said="waits for a child of vfork")
    check(state(children[0]) == "S", "the child waits")
    target.process.stdin.write("y")
    target.process.stdin.flush()
    target.ctl("--wait=100")
    target.end()
    check_known_part(target, snapshots(target.trace)[0])


def check_known_part(target, snapshot):
    for name, where, to in target.known:
        check(snapshot.words.get(int(where, 16)) == int(to, 16), f"{name} at {where}: {to}")


def check_at_end():
    """At the end of the program, after its own functions for that."""
    ways = {"exit": 23, "_exit": 23, "quick_exit": 23, "abort": -signal.SIGABRT, "fault": -signal.SIGSEGV, "own": 23}
    for way, status in ways.items():
        target = Target(way, way, "list", "data", options=("--references=end",))
        check(target.end(status) == "", f"{way}: nothing is said")
        taken = snapshots(target.trace)
        check([snapshot.name for snapshot in taken] == ["end of program"], f"{way}: {len(taken)} snapshots")
        for snapshot in taken:
            check(snapshot.values["reason"] == 1, "the reason")
            check_known_part(target, snapshot)


def check_nobody():
    """Without mprof-run, or while that is stopped, the end waits for nothing."""
    trace = folder("references-nobody") + "/trace.bin"
    alone = subprocess.run([program("references"), "exit", "list"], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, env={**os.environ, "LD_PRELOAD": f"{BUILD}/lib/libmprof.so",
                                           "MPROF_OUTPUT": trace, "MPROF_OPTIONS": f"references={NEVER}"})
    check(alone.returncode == 23 and os.path.exists(trace) and not snapshots(trace), f"nobody is there: {alone}")
    for way, status in (("abort", -signal.SIGABRT), ("exit", 23)):
        target = Target("sleeper-" + way, way, "list", options=("--references=end",))
        os.kill(target.process.pid, signal.SIGSTOP)
        target.process.stdin.close()
        while state(target.pid) != "Z":
            time.sleep(0.01)
        os.kill(target.process.pid, signal.SIGCONT)
        target.process.stdin = None
        target.end(status)
        check(not snapshots(target.trace), f"{way}: no snapshot without mprof-run")


def check_attached():
    """Of a process that runs already: at a time, and at the end of the recording or of the process."""
    for duration, last in (("0.5", "end of recording"), ("100", "end of program")):
        trace = folder("references-attached-" + duration) + "/trace.bin"
        with subprocess.Popen([program("references"), "births", "list"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            while process.stdout.readline() != "ready\n":
                pass
            command = [RUN, "--quiet", "--pid", str(process.pid), "-o", trace, "--duration", duration, "--references=end",
                       "--references=10ms"]
            refused = subprocess.run(command, capture_output=True, text=True)
            check(refused.returncode == 2 and "--partial" in refused.stderr, f"{refused}")
            with subprocess.Popen([*command, "--partial"]) as run:
                while duration == "100" and not (os.path.exists(trace) and header_number(trace, 440)):
                    time.sleep(0.01)
                if duration == "0.5":
                    check(run.wait() == 0, f"mprof-run ended with {run.returncode}")
                said = process.communicate()[0]
                check(process.returncode == 23 and said == "ok\n", f"unharmed: {process.returncode} {said}")
        taken = snapshots(trace)
        check([snapshot.name for snapshot in taken] == ["references 1", last], f"{[one.name for one in taken]}")
        check(all(snapshot.values["flags"] == 1 for snapshot in taken), "they are partial")


def check_occasions():
    """A signal to mprof-run, a time, a mark."""
    target = Target("signal", "list", options=("--references=SIGUSR2", "--references=50ms"))
    while header_number(target.trace, 440) < 1:
        time.sleep(0.01)
    target.process.send_signal(signal.SIGUSR2)
    while header_number(target.trace, 440) < 2:
        time.sleep(0.01)
    target.end()
    taken = snapshots(target.trace)
    check([snapshot.values["reason"] for snapshot in taken] == [4, 2], "the reasons")
    for snapshot in taken:
        check_known_part(target, snapshot)
    target = Target("mark", "list", "mark", options=("--references=mark:here",))
    target.end()
    taken = snapshots(target.trace)
    check([(snapshot.name, snapshot.values["reason"]) for snapshot in taken] == [("here", 3)], "the mark")
    check_known_part(target, taken[0])


def header_number(trace, offset):
    return int.from_bytes(open(trace, "rb").read(480)[offset:offset + 4], "little")


def check_refused():
    """One line says why, and the process goes on."""
    target = Target("sampled", "list", options=("--sample=64K",))
    target.ctl(status=1, said="record it without --sample")
    target.end()
    target = Target("late", "list", "births", options=("--start-after=0.01",))
    while header_number(target.trace, 132) != 0:
        time.sleep(0.01)
    target.ctl(status=1, said="--partial takes them")
    target.ctl("--partial")
    target.end()
    check([snapshot.values["flags"] for snapshot in snapshots(target.trace)] == [1], "it is marked as partial")
    target = Target("brief", "list")
    target.ctl("--references-stop=0.00001", status=1, said="--references-stop=")
    tracer = subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-p", str(target.pid)],
                              stderr=subprocess.DEVNULL) if shutil.which("strace") else None
    if tracer:
        while "TracerPid:\t0\n" in open(f"/proc/{target.pid}/status").read():
            pass
        target.ctl(status=1, said="traces it already")
        tracer.terminate()
        tracer.wait()
    target.end()
    for options in (("--sample=64K",), ("--start-after=1",)):
        run = subprocess.run([RUN, *options, "--references=end", "true"], capture_output=True, text=True)
        check(run.returncode == 2 and "--references needs every block" in run.stderr, f"{options}: {run}")
    run = subprocess.run([RUN, "--references=SIGKILL", "true"], capture_output=True, text=True)
    check(run.returncode == 2 and 'not "SIGKILL"' in run.stderr, f"{run}")


check_all()
check_births()
check_stopped()
check_vfork()
check_at_end()
check_nobody()
check_attached()
check_occasions()
check_refused()
done()
