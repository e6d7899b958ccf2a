# SPDX-License-Identifier: BSD-2-Clause
"""Threads that come and go: all are recorded, in few chunks. Names; the last rounds of destructors; main
returning while threads run."""
import os

import recording
from recording import Recording, check, check_sound, sizes

threads = recording.program("threads")
short = Recording("threads-out", [threads, "short", "10000"], run_options=["--unwind=off"])
check(short.run.returncode == 0, f"short: {short.run.returncode} {short.run.stderr}")
check_sound(short)
count = sizes(short.main, 5000)
check(count == {5000: 10000, 5001: 10000, 5002: 10000}, f"10,000 short threads: {count}")
check(len(short.main.threads) == 10001, f"{len(short.main.threads)} threads in the trace")
check(sum(thread.ends for thread in short.main.threads.values()) == 10000, "10,000 threads end")
length = os.path.getsize(short.path)
check(length < 40 * 65536, f"10,000 short threads took {length} bytes")

named = Recording("threads-out", [threads, "names"])
# A thread's name comes again with its stack.
names = [[name for i, name in enumerate(thread.names) if i == 0 or thread.names[i - 1] != name]
         for thread in named.main.threads.values()]
check(["threads", "first-name", "second-name"] in names, f"names: {names}")

late = Recording("threads-out", [threads, "late"])
check_sound(late)
count = sizes(late.main, 6000)
check(count.pop(6000, 0) == 20, "each thread's own block")
check(count == {7001: 20, 7002: 20, 7003: 20, 7004: 20}, f"key destructors in four rounds: {count}")
check(len(late.main.threads) == 21, f"a borrowed state keeps the thread's number: {len(late.main.threads)}")

running = Recording("threads-out", [threads, "running"])
check(running.run.returncode == 0, f"running: {running.run.returncode}")
check(running.main.header["state"] == "ended", "main's return ends the trace while threads run")
for line in running.main.complain():
    check(False, f"running: {line}")
check(sizes(running.main)[64] >= 20000, "what the threads had counted is there")
recording.done()
