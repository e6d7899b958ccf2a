# SPDX-License-Identifier: BSD-2-Clause
"""Redis-servers under the same load, alone, alone again, and sampled. See service.sh."""
import glob
import math
import os
import shutil
import statistics
import subprocess
import tempfile
import time

BUILD = os.environ["MPROF_BUILD"]
TRIOS = int(os.environ.get("MPROF_TRIOS", "21"))
ROUNDS = int(os.environ.get("MPROF_ROUNDS", "12"))
REQUESTS = os.environ.get("MPROF_REQUESTS", "20000")
MINUTES = float(os.environ.get("MPROF_MINUTES", "0"))
PIPELINES = os.environ.get("MPROF_PIPELINES", "1 16").split()
KINDS = ("alone", "again", "sampled")
# The server has one processor, its load the others.
PROCESSORS = sorted(os.sched_getaffinity(0))
OWN, OTHERS = PROCESSORS[-1:], PROCESSORS[:-1] or PROCESSORS
# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10,
       2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04)


class Server:
    """A redis-server of its own folder and socket, started by the words of `recorder`."""

    def __init__(self, folder, recorder):
        self.socket = folder + "/socket"
        self.child = subprocess.Popen([*recorder, "redis-server", "--port", "0", "--unixsocket", self.socket, "--save", ""],
                                      stdout=subprocess.DEVNULL, cwd=folder,
                                      preexec_fn=lambda: os.sched_setaffinity(0, OWN))
        while self.ask("ping") != "PONG":
            if self.child.poll() is not None:
                raise SystemExit(f"{recorder} redis-server has ended")
            time.sleep(0.02)
        self.process = self.ask("info", "server").split("process_id:")[1].split()[0]

    def ask(self, *arguments):
        return subprocess.run(["redis-cli", "-s", self.socket, *arguments], capture_output=True, text=True).stdout.strip()

    def used(self):
        """Returns the nanoseconds of processor time of all threads, which the kernel's ticks are made of."""
        return sum(int(open(name).read().split()[0]) for name in glob.glob(f"/proc/{self.process}/task/*/schedstat"))

    def load(self, pipeline):
        """Returns the processor time of a load."""
        before = self.used()
        subprocess.run(["redis-benchmark", "-s", self.socket, "-n", REQUESTS, "-r", "200000", "-d", "512", "-P", pipeline,
                        "-t", "set,get,lpush,hset", "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                       preexec_fn=lambda: os.sched_setaffinity(0, OTHERS))
        return self.used() - before

    def end(self):
        self.ask("shutdown", "nosave")
        self.child.terminate()
        self.child.wait()


def trio(folder, pipeline, number):
    """Three servers that live at the same time get the same load in turns. Returns the sums of their times, by KINDS."""
    servers, sums = {}, dict.fromkeys(KINDS, 0)
    # Each kind begins first, and is loaded first, as often as the others.
    order = [KINDS[(number + place) % len(KINDS)] for place in range(len(KINDS))]
    try:
        for kind in order:
            own = tempfile.mkdtemp(dir=folder)
            recorder = [BUILD + "/bin/mprof-run", "--quiet", "--sample=512K", "--rotate=60s", "--keep=10", "-o",
                        own + "/trace.bin", "--"]
            servers[kind] = Server(own, recorder if kind == "sampled" else [])
        for turn in range(ROUNDS + 1):
            for place in range(len(order)):
                kind = order[(turn + place) % len(order)]
                took = servers[kind].load(pipeline)
                sums[kind] += took if turn > 0 else 0  # the first load is to get warm
    finally:
        for server in servers.values():
            server.end()
    return sums


def row(folder, pipeline):
    """Returns the results of the trios of one pipeline."""
    runs, end = [], time.monotonic() + 60 * MINUTES
    while len(runs) < (3 if MINUTES else TRIOS) or time.monotonic() < end:
        runs.append(trio(folder, pipeline, len(runs)))
    return runs


def print_added(pipeline, runs, kind):
    """Prints what servers of this kind used more than those alone, with the 95 % interval of the mean."""
    ratios = [100 * (one[kind] - one["alone"]) / one["alone"] for one in runs]
    count = len(ratios)
    mean, spread = statistics.mean(ratios), statistics.stdev(ratios) if count > 1 else math.nan
    half = (T95[count - 2] if count - 2 < len(T95) else 1.96) * spread / math.sqrt(count) if count > 1 else math.nan
    each = statistics.mean(one["alone"] for one in runs) / (4 * ROUNDS * int(REQUESTS)) / 1000
    print(f"{pipeline:>16} {kind:>8} {count:>5} {each:10.3f} µs {mean:+7.2f}%   {mean - half:+.2f} to {mean + half:+.2f} %",
          flush=True)


folder = tempfile.mkdtemp()
print(f"redis-server, {ROUNDS} times {REQUESTS} requests of each kind in each trio; processor time of the server")
print(f"{'requests at once':>16} {'server':>8} {'trios':>5} {'alone':>13} {'added':>8}   95 % interval", flush=True)
try:
    for pipeline in PIPELINES:
        runs = row(folder, pipeline)
        print_added(pipeline, runs, "again")
        print_added(pipeline, runs, "sampled")
finally:
    shutil.rmtree(folder, ignore_errors=True)
