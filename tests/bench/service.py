# SPDX-License-Identifier: BSD-2-Clause
"""Pairs of redis-servers under the same load, alone and sampled. See service.sh."""
import glob
import math
import os
import shutil
import statistics
import subprocess
import tempfile
import time

BUILD = os.environ["MPROF_BUILD"]
PAIRS = int(os.environ.get("MPROF_PAIRS", "20"))
ROUNDS = int(os.environ.get("MPROF_ROUNDS", "12"))
REQUESTS = os.environ.get("MPROF_REQUESTS", "20000")
MINUTES = float(os.environ.get("MPROF_MINUTES", "0"))
PIPELINES = os.environ.get("MPROF_PIPELINES", "1 16").split()
# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10,
       2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04)


class Server:
    """A redis-server of its own folder and socket, started by the words of `recorder`."""

    def __init__(self, folder, recorder):
        self.socket = folder + "/socket"
        self.child = subprocess.Popen([*recorder, "redis-server", "--port", "0", "--unixsocket", self.socket, "--save", ""],
                                      stdout=subprocess.DEVNULL, cwd=folder)
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
                        "-t", "set,get,lpush,hset", "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return self.used() - before

    def end(self):
        self.ask("shutdown", "nosave")
        self.child.terminate()
        self.child.wait()


def pair(folder, pipeline):
    """Two servers that live at the same time get the same load in turns. Returns the sums of their times."""
    servers, sums = [], [0, 0]
    try:
        for name in ("alone", "sampled"):
            own = tempfile.mkdtemp(dir=folder)
            recorder = [BUILD + "/bin/mprof-run", "--quiet", "--sample=512K", "--rotate=60s", "--keep=10", "-o",
                        own + "/trace.bin", "--"]
            servers.append(Server(own, recorder if name == "sampled" else []))
        for turn in range(ROUNDS + 1):
            for one in ((0, 1), (1, 0))[turn % 2]:
                took = servers[one].load(pipeline)
                sums[one] += took if turn > 0 else 0  # the first load is to get warm
    finally:
        for server in servers:
            server.end()
    return sums


def row(folder, pipeline):
    """Returns the results of the pairs of one row of the table."""
    runs, end = [], time.monotonic() + 60 * MINUTES
    while len(runs) < (2 if MINUTES else PAIRS) or time.monotonic() < end:
        runs.append(pair(folder, pipeline))
    return runs


folder = tempfile.mkdtemp()
print(f"redis-server, {ROUNDS} times {REQUESTS} requests of each kind in each pair; processor time of the server")
print(f"{'requests at once':>16} {'pairs':>5} {'alone':>13} {'added':>8}   95 % interval", flush=True)
try:
    for pipeline in PIPELINES:
        runs = row(folder, pipeline)
        pairs = len(runs)
        ratios = [100 * (sampled - alone) / alone for alone, sampled in runs]
        mean, spread = statistics.mean(ratios), statistics.stdev(ratios) if pairs > 1 else math.nan
        half = (T95[pairs - 2] if pairs - 2 < len(T95) else 1.96) * spread / math.sqrt(pairs) if pairs > 1 else math.nan
        each = statistics.mean(alone for alone, _ in runs) / (4 * ROUNDS * int(REQUESTS)) / 1000
        print(f"{pipeline:>16} {pairs:>5} {each:10.3f} µs {mean:+7.2f}%   {mean - half:+.2f} to {mean + half:+.2f} %", flush=True)
finally:
    shutil.rmtree(folder, ignore_errors=True)
