# SPDX-License-Identifier: BSD-2-Clause
"""Runs the program `steps` under mprof-run: tells it what to do, and reads its trace while it runs."""
import glob
import os
import struct
import subprocess

import recording
from recording import check, program
from trace_text import Trace

# Offsets in the file header.
PID, STATE, CONTROL, END_TICKS, PAUSED, REQUEST = 72, 88, 100, 112, 132, 136
ENDED = 1


class Steps:
    def __init__(self, name, *options, command=None, before=()):
        self.path = recording.folder(name) + "/trace.bin"
        self.process = subprocess.Popen(
            [*before, recording.BUILD + "/bin/mprof-run", "--quiet", "-o", self.path, *options, *(command or [program("steps")])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def do(self, steps):
        for step in steps:
            self.process.stdin.write(step.encode())
            self.process.stdin.flush()
            check(self.process.stdout.read(1) == step.encode(), f"step {step}")

    def end(self):
        self.process.stdin.close()
        check(self.process.wait() == 0, f"the program ends with {self.process.returncode}")
        trace = Trace(self.path)
        for line in trace.complain() + trace.overlaps(unknown_frees=True):
            check(False, line)
        return trace

    def others(self):
        """Returns the traces of other processes of the run, the newest last."""
        return sorted(glob.glob(self.path + ".d/*"), key=lambda path: os.stat(path).st_ctime_ns)

    def pid(self):
        return self.header("<I", PID)

    def text(self, offset, length, path=None):
        with open(path or self.path, "rb") as file:
            file.seek(offset)
            return file.read(length)

    def header(self, form, offset, path=None):
        return struct.unpack(form, self.text(offset, struct.calcsize(form), path))[0]

    def wait_for(self, offset, value, path=None):
        while self.header("<I", offset, path) != value:
            os.sched_yield()
