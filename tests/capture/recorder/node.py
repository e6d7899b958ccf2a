# SPDX-License-Identifier: BSD-2-Clause
"""Stacks through code that node generates. Buffers are made through known chains of JavaScript functions, and
each chain is compared with the stack in the session."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import recording
from recording import check

node = shutil.which("node")
PROGRAM = os.environ["MPROF_SOURCE"] + "/tests/programs/chains.js"
NAMES = {"alpha", "beta", "gamma", "delta", "epsilon"}


def options_known(options):
    return node and subprocess.run([node, *options, "-e", "0"], capture_output=True, cwd=recording.folder("node-options")).returncode == 0


def chain_of(frames):
    """Returns the functions of the program among the frames of a stack, outermost first."""
    found = (re.match(r"(?:\w+:)?[~^*+]*(\w+)", frame) for frame in reversed(frames))
    return [match[1] for match in found if match and match[1] in NAMES]


def record(name, options, rounds):
    """Returns the number of its Buffers and of those with exactly their chain."""
    folder = recording.folder(name)
    trace, path = folder + "/trace.bin", folder + "/session.db"
    run = subprocess.run([recording.BUILD + "/bin/mprof-run", "--quiet", "-o", trace, node, *options, PROGRAM, str(rounds)],
                         capture_output=True, text=True, cwd=folder)
    check(run.returncode == 0 and not run.stderr, f"{name}: {run}")
    said = json.loads(run.stdout.splitlines()[-1])
    subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", path, trace], check=True)
    session = sqlite3.connect(path)
    odd = session.execute("""SELECT key, value FROM meta WHERE value <> 0 AND key IN ('dropped_events', 'unmatched_frees',
        'double_frees', 'overlaps', 'damaged_bytes')""").fetchall()
    check(not odd, f"{name}: {odd}")
    pid = session.execute("SELECT value FROM meta WHERE key = 'pid'").fetchone()[0]
    if os.path.exists(f"/tmp/perf-{pid}.map"):
        os.unlink(f"/tmp/perf-{pid}.map")
    count, ends = session.execute("""SELECT count(*), total(state <> 'complete') FROM allocation a
        JOIN stack s ON s.id = a.stack_id""").fetchone()
    buffers = shown = exact = 0
    rows = session.execute("SELECT size - 100000, stack_id, count(*) FROM allocation WHERE size BETWEEN 100000 AND 100099 GROUP BY 1, 2")
    for number, stack, here in rows.fetchall():
        found = chain_of([row[0] for row in session.execute("SELECT function FROM v_stack WHERE stack_id = ? ORDER BY depth", (stack,))])
        buffers, shown, exact = buffers + here, shown + here * bool(found), exact + here * (found == said["chains"][number])
    guessed = session.execute("""SELECT count(*) FROM stack_frame f JOIN frame r ON r.id = f.frame_id
        WHERE r.module_id = 0 AND NOT r.bare""").fetchone()[0]
    print(f"{name}: {count} allocations, {ends:.0f} of unfinished stacks; {buffers} buffers, {shown} with functions, {exact} with all")
    check(buffers == said["made"] == rounds, f"{name}: {buffers} Buffers of {said['made']}")
    check(ends < count / 100, f"{name}: {ends} of {count} stacks end early")
    check(guessed == 0, f"{name}: {guessed} frames of generated code are not marked")
    return buffers, exact


# A function is compiled before its first call. Else a thread does that later, when it finds time.
PERF = ["--perf-basic-prof", "--always-sparkplug"]
# Inlined functions are in no stack. Interpreted functions have code of their own only on request.
EACH = PERF[:1] + ["--interpreted-frames-native-stack", "--max-inlined-bytecode-size=0", "--max-inlined-bytecode-size-cumulative=0"]
if not options_known(EACH):
    print("skipped: no node with", " ".join(EACH))
    sys.exit(77)
made, exact = record("node", PERF, 5000)
check(exact >= 0.95 * made, f"{exact} of {made} Buffers have their whole chain on the stack, compiled before the first call")
made, exact = record("node-each", EACH, 1000)
check(exact >= 0.95 * made, f"{exact} of {made} Buffers have their whole chain on the stack")
recording.done()
