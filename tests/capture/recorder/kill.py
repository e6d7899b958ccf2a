# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL at a random moment, 50 times. The trace holds every call that the program had counted."""
import os
import random
import signal
import subprocess
import time

import recording
import trace_text
from recording import check

ROUNDS = 50
random.seed(20)
compared = killed_while_busy = 0
for number in range(ROUNDS):
    folder = recording.folder("kill-out")
    trace_path = folder + "/trace.bin"
    process = subprocess.Popen(
        [recording.program("stress"), folder, recording.program("stress_plugin.so"), "4", "100", "7", "forever"],
        env={**os.environ, "MPROF_OUTPUT": trace_path, "LD_PRELOAD": recording.BUILD + "/lib/libmprof.so"})
    # The moment is a random number of logged calls, so slow and fast machines are killed alike.
    target = random.choice([1, 30, 500, 2000, 8000, 15000])
    while process.poll() is None and trace_text.own_count(folder) < target:
        time.sleep(0.0005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    check(process.returncode == -signal.SIGKILL, f"round {number}: ended by {process.returncode}")
    trace = trace_text.Trace(trace_path)
    check(trace.header["state"] == "recording", f"round {number}: state {trace.header['state']}")
    for line in trace.complain():
        if "is not named" not in line:
            check(False, f"round {number}: {line}")
    threads = trace.by_tid()
    for log in trace_text.own_logs(folder).get(process.pid, []):
        if not log.events:
            continue
        check(log.tid in threads, f"round {number}: thread {log.tid} is not in the trace")
        if log.tid in threads:
            difference = trace_text.compare(log, threads[log.tid].events(), killed=True)
            check(not difference, f"round {number}: {difference}")
            compared += len(log.events)
    killed_while_busy += any(not thread.ends for thread in trace.threads.values())
print(f"{compared} calls compared")
check(compared > 100000, f"only {compared} calls compared")
check(killed_while_busy == ROUNDS, f"killed while busy only {killed_while_busy} times")
recording.done()
