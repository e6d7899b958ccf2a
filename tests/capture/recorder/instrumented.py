# SPDX-License-Identifier: BSD-2-Clause
"""--unwind=instrument: in programs built with -finstrument-functions each block has the stack that the
unwind tables give, as far as functions report themselves. This covers calls and recursion, functions left by
longjmp and exceptions, signal handlers, coroutines, threads, a forked child and inlined functions, built by
gcc and clang. Functions of libraries and of elsewhere.c are not in these stacks. Without the recorder such a
program runs like any other."""
import collections
import os
import sqlite3
import subprocess

import recording
from recording import Recording, check, check_sound

source = os.environ["MPROF_SOURCE"] + "/tests/programs/instrumented/"
folder = recording.folder("instrumented-programs")
BUILDS = [("gcc", "g++", ["-O2"]), ("clang", "clang++", ["-O2"])]


def build(name, compiler, flags):
    """Builds shapes.c or throws.cpp with the file whose functions do not report themselves."""
    stem, path = name.split(".")[0], f"{folder}/{len(os.listdir(folder))}"
    os.mkdir(path)
    plain = [*flags, "-g", "-w", "-fno-builtin", "-D_GNU_SOURCE", "-pthread"]
    c_compiler = {"g++": "gcc", "clang++": "clang"}.get(compiler, compiler)
    for command in ([c_compiler, *plain, "-c", "-o", f"{path}/elsewhere.o", source + "elsewhere.c"],
                    [compiler, *plain, "-finstrument-functions", "-o", f"{path}/{stem}", source + name, f"{path}/elsewhere.o"]):
        made = subprocess.run(command, capture_output=True, text=True)
        check(made.returncode == 0, f"{command}: {made.stderr}")
    return f"{path}/{stem}"


def record(program, unwind, arguments=(), options=()):
    one = Recording("instrumented-out", [program, *arguments], run_options=[f"--unwind={unwind}", *options])
    check(one.run.returncode == 0 and one.run.stderr == "" and one.run.stdout == "", f"{program} {unwind}: {one.run}")
    check_sound(one)
    sessions = []
    for path in sorted(one.traces):
        subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "--force", "-o", path + ".db", path], check=True)
        sessions.append(sqlite3.connect(path + ".db"))
    return sessions


def stacks(sessions, program):
    """Counts by process, size, the program's functions that report themselves, and the state of the stack.
    Returns the counts, all functions and all modules."""
    count, functions, modules = collections.Counter(), set(), set()
    for process, session in enumerate(sessions):
        frames = collections.defaultdict(list)
        for stack, function, module in session.execute("SELECT stack_id, function, module FROM v_stack ORDER BY stack_id, depth"):
            frames[stack].append((function, module))
            functions.add(function)
            modules.add(module)
        for size, stack, state in session.execute("SELECT a.size, a.stack_id, s.state FROM allocation a JOIN stack s ON s.id = a.stack_id"):
            names = tuple(function for function, module in frames[stack]
                          if module == program and not function.startswith(("elsewhere", "_start")))
            count[process, size, names, state] += 1
    return count, functions, modules


def compare(program, least):
    tables, all_functions, _ = stacks(record(program, "eh"), os.path.basename(program))
    hooks, functions, _ = stacks(record(program, "instrument"), os.path.basename(program))
    check(sum(tables.values()) == sum(hooks.values()) and sum(tables.values()) > least, f"{program}: {sum(tables.values())} blocks, {sum(hooks.values())}")
    different = [(key, tables[key], hooks[key]) for key in sorted(set(tables) | set(hooks)) if tables[key] != hooks[key]]
    for key, by_tables, by_hooks in different[:10]:
        check(False, f"{program}: {by_tables} times by tables, {by_hooks} by hooks: {key}")
    # If it were there, the stacks would come from the tables.
    check("elsewhere_call" in all_functions and "elsewhere_call" not in functions, f"{program}: {sorted(functions)}")


for c, cxx, flags in BUILDS:
    shapes = build("shapes.c", c, flags)
    check(subprocess.run([shapes]).returncode == 0, f"{shapes} alone")
    compare(shapes, 1500)
    compare(build("throws.cpp", cxx, flags), 800)
compare(build("shapes.c", "gcc", ["-O0"]), 1500)

# Code without unwind tables. Calls and recursion are right. So are functions left by longjmp, at the latest
# from the next call from as far out. Nothing shows that elsewhere_call lies between them.
bare = build("shapes.c", "gcc", ["-O2", "-fno-asynchronous-unwind-tables"])
found, _, _ = stacks(record(bare, "instrument"), "shapes")
for depth in range(21):
    chain = ("in_block",) + ("in_recurse",) * (21 - depth) + ("main",)
    for size in (1000 + depth, 1100 + depth):
        check(found[0, size, chain, "complete"] == 1, f"without tables: {[key for key in found if key[1] == size]}")
    if depth < 3:
        check(found[0, 1570 + depth, ("in_jumps", "main"), "complete"] == 1, f"without tables: {[key for key in found if key[1] == 1570 + depth]}")

# Deeper than the limit, deeper than all that is kept, and back; then a limit set by the user.
for depth, frames in (("5000", range(3072, 4097)), ("20000", range(1, 2))):
    session, = record(shapes, "instrument", [depth])
    rows = dict((size, (count, state)) for size, count, state in session.execute(
        "SELECT a.size, s.depth, s.state FROM allocation a JOIN stack s ON s.id = a.stack_id WHERE a.size IN (4100, 4101)"))
    check(rows[4100][1] == "depth limit" and rows[4100][0] in frames, f"{depth} calls: {rows}")
    check(rows[4101] == (3, "complete"), f"back from {depth} calls: {rows}")
cut, _, _ = stacks(record(shapes, "instrument", options=["--depth=10"])[:1], "shapes")
check(("in_block",) + ("in_recurse",) * 2 + ("main",) in [key[2] for key in cut if key[3] == "complete"] and
      all(len(key[2]) <= 10 for key in cut) and any(key[3] == "depth limit" for key in cut), f"--depth=10: {sorted(cut)[:20]}")

# A program that reports nothing gets its stacks from the tables.
without = Recording("instrumented-out", ["python3", "-c", "0"], run_options=["--unwind=instrument"])
subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", without.path + ".db", without.path], check=True)
whole = sqlite3.connect(without.path + ".db").execute("SELECT max(depth) FROM stack WHERE state = 'complete'").fetchone()[0]
check(without.run.returncode == 0 and whole > 20, f"a program without hooks: {without.run}, {whole} frames")
recording.done()
