# SPDX-License-Identifier: BSD-2-Clause
"""Pairs of runs of redis-server under the same load: alone and sampled. See service.sh."""
import math
import os
import shutil
import statistics
import subprocess
import tempfile
import time

BUILD = os.environ["MPROF_BUILD"]
PAIRS = int(os.environ.get("MPROF_PAIRS", "20"))
REQUESTS = os.environ.get("MPROF_REQUESTS", "400000")
# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10,
       2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04)


def client(socket, *arguments):
    return subprocess.run(["redis-cli", "-s", socket, *arguments], capture_output=True, text=True).stdout.strip()


def ticks(process):
    fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def run(folder, recorder):
    """Returns the clock ticks that the server used, user and system, from its start to the end of the load."""
    socket = folder + "/socket"
    server = subprocess.Popen([*recorder, "redis-server", "--port", "0", "--unixsocket", socket, "--save", ""],
                              stdout=subprocess.DEVNULL, cwd=folder)
    try:
        while client(socket, "ping") != "PONG":
            if server.poll() is not None:
                raise SystemExit(f"{recorder} redis-server has ended")
            time.sleep(0.02)
        process = client(socket, "info", "server").split("process_id:")[1].split()[0]
        subprocess.run(["redis-benchmark", "-s", socket, "-n", REQUESTS, "-r", "200000", "-d", "512", "-P", "16", "-t",
                        "set,get,lpush,hset", "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return ticks(process)
    finally:
        client(socket, "shutdown", "nosave")
        server.terminate()
        server.wait()


folder = tempfile.mkdtemp()
try:
    sampled = [BUILD + "/bin/mprof-run", "--quiet", "--force", "--sample=512K", "--rotate=1s", "--keep=10", "-o",
               folder + "/trace.bin"]
    alone, recorded = [], []
    for pair in range(PAIRS):
        for one in ((0, 1), (1, 0))[pair % 2]:
            (alone, recorded)[one].append(run(folder, sampled if one else []))
    ratios = [100 * (b - a) / a for a, b in zip(alone, recorded)]
    mean, spread = statistics.mean(ratios), statistics.stdev(ratios) if PAIRS > 1 else math.nan
    half = (T95[PAIRS - 2] if PAIRS - 2 < len(T95) else 1.96) * spread / math.sqrt(PAIRS) if PAIRS > 1 else math.nan
    print(f"redis-server, {REQUESTS} requests of each kind, {PAIRS} pairs, clock ticks of the server")
    print(f"{'alone':>10} {'sampled':>10} {'added':>8}   95 % interval")
    print(f"{statistics.mean(alone):10.1f} {statistics.mean(recorded):10.1f} {mean:+7.2f}%   {mean - half:+.2f} to {mean + half:+.2f} %")
finally:
    shutil.rmtree(folder, ignore_errors=True)
