# SPDX-License-Identifier: BSD-2-Clause
"""Records a program into a new folder and reads the traces, for the tests beside it."""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import trace_text

BUILD = os.environ["MPROF_BUILD"]
wrong = []


def program(name):
    return f"{BUILD}/tests/{name}"


def folder(name):
    path = os.path.abspath(name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


class Recording:
    """traces: by path. `main` is the one that was asked for (None: it is missing)."""

    def __init__(self, name, arguments, environment=None, run_options=(), **keywords):
        self.folder = folder(name)
        self.path = self.folder + "/trace.bin"
        self.run = subprocess.run(
            [BUILD + "/bin/mprof-run", "--quiet", "-o", self.path, *run_options, *arguments],
            env={**os.environ, **(environment or {})}, capture_output=True, text=True,
            cwd=self.folder, **keywords)
        self.read()

    def read(self):
        paths = [self.path] if os.path.exists(self.path) else []
        self.traces = {path: trace_text.Trace(path) for path in paths + sorted(glob.glob(self.path + ".d/*"))}
        self.main = self.traces.get(self.path)
        self.others = [trace for path, trace in self.traces.items() if path != self.path]


def check(true, what):
    if not true:
        wrong.append(what)
        print("wrong:", what)


def check_sound(recording):
    for path, trace in recording.traces.items():
        # With the fast clock stamps are intervals, which do not show the order between threads.
        exact = not int(trace.header["flags"]) & 1
        for line in (trace.complain() + (trace.overlaps(unknown_frees=True) if exact else []))[:10]:
            check(False, f"{path}: {line}")


def sizes(trace, least=0):
    """Returns how often each size from `least` up was allocated."""
    count = {}
    for thread in trace.threads.values():
        for call, _, _, size, _ in thread.events():
            if call != "free" and size >= least:
                count[size] = count.get(size, 0) + 1
    return count


def unrecorded(path):
    """Returns the programs of a run that have a trace and no recorder: their names and the reasons."""
    found = []
    for trace in [path] * os.path.exists(path) + sorted(glob.glob(path + ".d/*")):
        data = open(trace, "rb").read(8192)
        reason, at = int.from_bytes(data[432:436], "little"), 4096 + 64 + 1
        for _ in range(5):  # type, length, pid, parent, parent's trace
            while data[at] & 0x80:
                at += 1
            at += 1
        if reason:
            length, at = (data[at], at + 1) if data[at] < 0x80 else (data[at] - 128 + 128 * data[at + 1], at + 2)
            found.append((os.path.basename(data[at:at + length].decode()), reason))
    return sorted(found)


def done():
    if not wrong:
        print("all as expected")
    sys.exit(1 if wrong else 0)
