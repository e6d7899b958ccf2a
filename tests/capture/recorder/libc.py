# SPDX-License-Identifier: BSD-2-Clause
"""Blocks that the C library makes for its caller (strdup, asprintf, getline) have that caller in their
stack. reallocarray and the sized frees are recorded. malloc_usable_size gives the same answers as without
the recorder."""
import sqlite3
import subprocess

import recording
from recording import Recording, check, check_sound

program = recording.program("libc_calls")
alone = subprocess.run([program], capture_output=True, text=True)
one = Recording("libc-out", [program])
check(alone.returncode == 0 and one.run.returncode == 0 and one.run.stderr == "", f"{alone} {one.run}")
check(one.run.stdout == alone.stdout and alone.stdout.count("\n") > 8, f"malloc_usable_size: {one.run.stdout}, alone {alone.stdout}")
check_sound(one)

path = one.folder + "/session.db"
subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", path, one.path], check=True)
session = sqlite3.connect(path)
rows = {}
for size, kind, function, free_ns, stack in session.execute("SELECT size, kind, function, free_ns, stack_id FROM v_allocation"):
    frames = [name for name, in session.execute("SELECT function FROM v_stack WHERE stack_id = ? ORDER BY depth", (stack,))]
    for frame in frames:
        if frame and frame.startswith("by_"):
            rows.setdefault(frame, []).append((size, kind, function, free_ns is not None, frames))
    if any((frame or "").startswith("by_") for frame in frames):
        check(frames[-1] in ("_start", "__libc_start_main", "__libc_start_main_impl") and "main" in frames, f"the outer frames: {frames}")


def has(frame, size, kind, function=None):
    found = [row for row in rows.get(frame, []) if row[0] == size and row[1] == kind]
    check(len(found) == 1 and found[0][3], f"{frame}: one freed {kind} of {size}: {rows.get(frame)}")
    if found and function:
        check(found[0][2] == function, f"{frame}: the call site is {found[0][2]}: {found[0][4]}")


has("by_strdup", 1101, "malloc", "by_strdup")
has("by_strndup", 1203, "malloc", "by_strndup")
# The C library chooses the size, and may reach it in steps.
for frame, least in (("by_asprintf", 1305), ("by_getline", 1407)):
    found = [row for row in rows.get(frame, []) if row[0] >= least]
    check(found and all(row[3] for row in rows[frame]), f"{frame}: {rows.get(frame)}")
check(any(row[2] == "by_asprintf" for row in rows.get("by_asprintf", [])), f"by_asprintf: {rows.get('by_asprintf')}")
has("by_reallocarray", 1515, "reallocarray", "by_reallocarray")
has("by_reallocarray", 1616, "reallocarray", "by_reallocarray")
has("by_sized_frees", 1717, "malloc", "by_sized_frees")
has("by_sized_frees", 1792, "aligned_alloc", "by_sized_frees")
check(len(one.main.failed) == 1, f"the reallocarray that overflows: {one.main.failed}")
recording.done()
