# SPDX-License-Identifier: BSD-2-Clause
"""Stacks through code without call frame information, generated or assembled. They go on if the code keeps
a frame pointer. Otherwise they end there and are marked. No frame is invented. And events on a stack that is not
aligned."""
import sqlite3
import subprocess

import recording
from recording import Recording, check, check_sound

one = Recording("bare-code", [recording.program("bare_code")])
check(one.run.returncode == 0 and not one.run.stderr, f"said {one.run}")
check_sound(one)
seen = {}
unaligned = sum(event[3] in (4005, 4007, 4008, 4009) for thread in one.main.threads.values() for event in thread.events())
check(unaligned == 80000, f"{unaligned} on the stack that is not aligned")
for thread in one.main.threads.values():
    for event, stack in zip(thread.events(), thread.event_stacks()):
        if 4001 <= event[3] <= 4004:
            seen.setdefault(event[3], []).append(one.main.frames(stack))
own = recording.program("bare_code")
check({size: len(stacks) for size, stacks in seen.items()} == {4001: 1000, 4002: 1000, 4003: 1000, 4004: 10},
      f"{ {size: len(stacks) for size, stacks in seen.items()} }")
for size, place in ((4001, ""), (4002, own)):
    for stack in seen[size]:
        check(len(stack) == 2 and stack[0][0] == place and stack[1] == ("unwind-end", 0), f"{size}: {stack}")
for size, frames in ((4003, 3), (4004, 1)):
    for stack in seen[size]:
        # Its own frames, then those of the C library, then _start.
        places = [frame[0] for frame in stack]
        check(places[:frames] == [own] * frames and places[-1] == own and "unwind-end" not in places, f"{size}: {stack}")

# The frame pointer is trusted in one function only. That one is marked, and no other.
session = one.folder + "/session.db"
subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", session, one.path], check=True)
marked = sqlite3.connect(session).execute("""SELECT DISTINCT a.size, v.depth, v.function FROM v_stack v
    JOIN allocation a USING (stack_id) WHERE v.bare ORDER BY 1, 2""").fetchall()
check([mark for mark in marked if mark[0] in (4001, 4002, 4003, 4004)] == [(4003, 0, "bare_call_framed")], f"marked: {marked}")
recording.done()
