# SPDX-License-Identifier: BSD-2-Clause
"""Runs mprof-tui on a pseudo-terminal and counts what it writes."""
import fcntl
import os
import pty
import select
import signal
import struct
import tempfile
import termios
import time

ARROW_DOWN, ARROW_UP, ARROW_RIGHT, ARROW_LEFT = b"\033OB", b"\033OA", b"\033OC", b"\033OD"


class Browser:
    def __init__(self, arguments, columns=200, rows=60, environment=None):
        self.began = time.monotonic()
        self.folder = tempfile.TemporaryDirectory()  # no run sees the state of another
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            variables = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(environment or {})}
            variables["XDG_CONFIG_HOME"] = variables["XDG_STATE_HOME"] = self.folder.name
            variables.pop("NO_COLOR", None)
            os.execve(arguments[0], arguments, variables)
        self.status = None

    def read(self, seconds):
        """Returns what the browser writes next, b"" if it writes nothing for so long or has ended."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self.terminal, 65536)
        except OSError:
            return b""

    def settle(self, first, quiet):
        """Reads until the browser is quiet. Waits `first` seconds for the first byte, and `quiet` for
        each other. Returns the bytes, and the times of the first and the last one."""
        data = self.read(first)
        began = ended = time.monotonic()
        part = data
        while part:
            part = self.read(quiet)
            if part:
                data += part
                ended = time.monotonic()
        return data, began, ended

    def until(self, wanted, seconds=60):
        """Reads until the browser has written `wanted`. Returns all that came."""
        data = b""
        end = time.monotonic() + seconds
        while wanted not in data:
            left = end - time.monotonic()
            part = self.read(left) if left > 0 else b""
            if not part:
                raise AssertionError("no %r in %r" % (wanted, data[-4000:]))
            data += part
        return data

    def write(self, keys):
        os.write(self.terminal, keys)

    def processor_seconds(self):
        with open("/proc/%d/stat" % self.pid) as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def input_seconds(self):
        """Returns the processor time of the thread that reads keys and draws, in seconds."""
        with open("/proc/%d/task/%d/schedstat" % (self.pid, self.pid)) as stat:
            return int(stat.read().split()[0]) / 1e9

    def switches(self):
        """Returns how often the main thread has given up its core, which each wait does once."""
        with open("/proc/%d/status" % self.pid) as status:
            return sum(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt"))

    def end(self, keys=b"q", seconds=20):
        """Ends the browser by keys. Returns its exit status, -1 if it had to be killed."""
        if self.status is not None:
            return self.status
        if keys:
            self.write(keys)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.status = -1
        return -1
