# SPDX-License-Identifier: BSD-2-Clause
"""Reads a trace through `mprof-ingest --dump`, and the logs that tests/programs/own_log.h writes."""
import glob
import os
import struct
import subprocess
import sys

BUILD = os.environ["MPROF_BUILD"]
CALLS = ["malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc",
         "memalign", "valloc", "pvalloc", "free"]


class Thread:
    def __init__(self, number):
        self.number = number
        self.tid = None
        self.names = []
        self.segments = {}  # sequence -> events in order
        self.stacks = {}  # sequence -> the stack of each event, None if it has none
        self.ends = 0

    def events(self):
        return [event for sequence in sorted(self.segments) for event in self.segments[sequence]]

    def event_stacks(self):
        return [stack for sequence in sorted(self.stacks) for stack in self.stacks[sequence]]

    def gaps(self):
        return sorted(set(range(len(self.segments))) - set(self.segments))


class Trace:
    """threads: by the recorder's number. An event is (call, address, old, size, alignment). `times` holds
    (ticks, +1 or -1, address) for each beginning and end of a block, to check the order."""

    def __init__(self, path):
        self.path = path
        self.threads = {}
        self.header = {}
        self.damage = []
        self.dropped = 0
        self.clocks = 0
        self.resident = []
        self.failed = []
        self.marks = []  # names in the order of time, because two threads have two chunks
        self.process = None
        self.bypassed = []  # (reason, path)
        self.ends = []
        self.times = []
        self.nodes = {}
        self.modules = {}
        dump = subprocess.run([BUILD + "/bin/mprof-ingest", "--dump", path], text=True,
                              capture_output=True)
        if dump.returncode != 0:
            sys.exit(f"{path}: mprof-ingest --dump: {dump.stderr}")
        segment = None
        for line in dump.stdout.splitlines():
            word = line.split()
            if word[0] == "file":
                self.header = dict(zip(word[1::2], word[2::2]))
            elif word[0] == "damage":
                self.damage.append(line)
            elif word[0] == "chunk":
                segment = self.segment(int(word[4]), int(word[6]))
            else:
                segment = self.record(word, line, segment)
        self.marks = [name for _, name in sorted(self.marks)]
        # The records that mprof-run writes from outside belong to no thread of the program.
        self.threads.pop(0xffffffff, None)

    def thread(self, number):
        return self.threads.setdefault(number, Thread(number))

    def segment(self, number, sequence):
        segments = self.thread(number).segments
        if sequence in segments:
            self.damage.append(f"thread {number} has sequence {sequence} twice")
        segments[sequence] = []
        self.stacks_of_segment = self.thread(number).stacks[sequence] = []
        return segments[sequence]

    def record(self, word, line, segment):
        thread, ticks, kind = int(word[2]), int(word[3]), word[4]
        if kind == "process":
            self.process = line
            return segment
        field = dict(zip(word[5::2], word[6::2]))
        if kind in ("alloc", "free", "realloc") and field.get("outcome") != "failed":
            self.stacks_of_segment.append(int(field["stack"]) if "stack" in field else None)
        if kind == "alloc":
            address = int(field["address"], 16)
            segment.append((field["kind"], address, 0, int(field["size"]),
                            int(field.get("alignment", 0))))
            self.times.append((ticks, 1, address))
        elif kind == "free":
            address = int(field["address"], 16)
            segment.append(("free", address, 0, 0, 0))
            self.times.append((ticks, -1, address))
        elif kind == "realloc":
            old, address = int(field["old"], 16), int(field["address"], 16)
            if field["outcome"] != "failed":
                segment.append((field["kind"], address, old, int(field["size"]), 0))
                self.times.append((int(field["before"]), -1, old))
                self.times.append((ticks, 1, address))
            else:
                self.failed.append(int(field["size"]))
        elif kind == "switch":
            return self.segment(int(field["thread"]), int(field["sequence"]))
        elif kind == "thread":
            entry = self.thread(int(field["number"]))
            entry.tid = int(field["tid"])
            entry.names.append(line.split('"')[1])
        elif kind == "thread-end":
            self.thread(int(field["number"])).ends += 1
        elif kind == "dropped":
            self.dropped += int(field["count"])
        elif kind == "rss":
            self.resident.append((int(field["when"]), int(field["bytes"])))
        elif kind == "clock":
            self.clocks += 1
        elif kind == "failed":
            self.failed.append(int(field["size"]))
        elif kind in ("mark", "snapshot"):
            self.marks.append((int(line.rsplit(" ", 1)[1]), line.split('"')[1]))
        elif kind == "bypass":
            self.bypassed.append((int(field["reason"]), line.split('"')[1]))
        elif kind == "end":
            self.ends.append(int(field["reason"]))
        elif kind == "node":
            self.nodes[int(field["id"])] = field
        elif kind == "module":
            self.modules[int(field["id"])] = line
        return segment

    def frames(self, stack):
        """Returns (module's path, address in its file) for each frame, the innermost first. The marker of a
        stack that ended early is (its name, 0)."""
        frames = []
        while stack:
            node = self.nodes[stack]
            if node["frame"] in ("return", "exact"):
                module = self.modules.get(int(node["module"]), '""')
                frames.append((module.split('"')[1], int(node["value"], 16)))
            else:
                frames.append((node["frame"], 0))
            stack = int(node["parent"])
        return frames

    def by_tid(self):
        return {thread.tid: thread for thread in self.threads.values()}

    def complain(self):
        """Returns the faults that no trace of an undisturbed program may have."""
        wrong = list(self.damage)
        for thread in self.threads.values():
            if thread.gaps():
                wrong.append(f"thread {thread.number}: sequence lacks {thread.gaps()}")
            if thread.tid is None:
                wrong.append(f"thread {thread.number} is not named")
        if self.dropped:
            wrong.append(f"{self.dropped} events dropped")
        if self.header["dropped"] != "0":
            wrong.append(f"header: {self.header['dropped']} events dropped")
        return wrong

    def overlaps(self, unknown_frees):
        """Merges by time: each address must alternate between beginning and end. Returns the violations. The
        end of a block that never began is one, unless `unknown_frees`."""
        live, wrong = set(), []
        for ticks, step, address in sorted(self.times):
            if step > 0:
                if address in live:
                    wrong.append(f"0x{address:x} begins twice at {ticks}")
                live.add(address)
            elif address in live:
                live.discard(address)
            elif not unknown_frees:
                wrong.append(f"0x{address:x} ends at {ticks} and never began")
        return wrong


class OwnLog:
    def __init__(self, data):
        count, self.strict, self.process, self.tid, _ = struct.unpack_from("<5Q", data)
        self.events, self.paths = [], []
        for call, address, old, size, alignment, path in struct.iter_unpack("<6Q", data[40:40 + 48 * count]):
            self.events.append((CALLS[call], address, old, size, alignment))
            self.paths.append(path)


def own_logs(folder):
    """Returns all logs, by process."""
    logs = {}
    for path in glob.glob(folder + "/log.*"):
        with open(path, "rb") as file:
            data = file.read()
        if not any(data[:40]):  # killed before the log was begun
            continue
        log = OwnLog(data)
        logs.setdefault(log.process, []).append(log)
    return logs


def own_count(folder):
    """Returns the number of calls in all logs, without reading their contents."""
    count = 0
    for path in glob.glob(folder + "/log.*"):
        with open(path, "rb") as file:
            count += int.from_bytes(file.read(8), "little")
    return count


def compare(log, events, killed=False):
    """Returns the first difference between a thread's own log and its events in the trace, or None. `killed`:
    the last call may be in the trace only."""
    if not log.strict:
        at = 0
        for event in events:
            if at < len(log.events) and event == log.events[at]:
                at += 1
        if at < len(log.events):
            return f"thread {log.tid}: call {at} of its own, {log.events[at]}, is not in the trace"
        return None
    for at, (own, traced) in enumerate(zip(log.events, events)):
        if own != traced:
            return f"thread {log.tid}: call {at} was {own}, the trace has {traced}"
    extra = len(events) - len(log.events)
    if extra < 0 or extra > (1 if killed else 0):
        return f"thread {log.tid}: {len(log.events)} calls of its own, {len(events)} in the trace"
    return None
