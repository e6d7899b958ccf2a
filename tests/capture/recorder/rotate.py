# SPDX-License-Identifier: BSD-2-Clause
"""Rotation: each trace begins with the sampled blocks that are live at the end of the one before, no event is
lost, and the live totals are those of a recording that was not rotated."""
import glob
import math
import os
import re
import sqlite3
import subprocess
import time

import recording
from recording import BUILD, check, program

RUNS = 100 if os.environ.get("MPROF_SOAK") else 2
ODD = ("unmatched_frees", "double_frees", "overlaps", "dropped_events", "orphaned_stacks", "damaged_bytes", "missing_chunks")
BLOCKS = """SELECT a.address, a.size, a.kind, a.count, a.alignment, r.name, a.thread_id, t.name, t.confidence,
    (SELECT group_concat(function || ':' || ifnull(line, ''), '<') FROM v_stack v WHERE v.stack_id = a.stack_id)
    FROM allocation a LEFT JOIN arena r ON r.id = a.arena_id LEFT JOIN type t ON t.id = a.type_id AND t.confidence = 'exact' WHERE """


class Session:
    def __init__(self, trace):
        path, alone = trace + ".db", trace + ".alone"
        os.link(trace, alone)  # without the children, which lie in a folder with the name of the trace
        subprocess.run([BUILD + "/bin/mprof-ingest", "-q", "-f", "-o", path, alone], check=True)
        os.unlink(alone)
        with sqlite3.connect(path) as database:
            self.meta = dict(database.execute("SELECT key, value FROM meta"))
            self.problems = database.execute("SELECT kind, detail FROM problem").fetchall()
            self.end = sorted(map(repr, database.execute(BLOCKS + "free_ns IS NULL")))
            self.begin = sorted(map(repr, database.execute(BLOCKS + "a.id IN (SELECT allocation_id FROM earlier_block)")))
            self.threads = {row[0] for row in database.execute("SELECT DISTINCT thread_id FROM allocation WHERE alloc_ns > 0")}
            self.live = sorted((row[1:] for row in database.execute(BLOCKS.replace("a.thread_id", "0") + "free_ns IS NULL")), key=repr)
            self.young = database.execute("SELECT count(*) FROM earlier_block WHERE before_ns = 0").fetchone()[0]
            self.collections = database.execute("SELECT begin_ns, end_ns IS NULL FROM collection ORDER BY id").fetchall()
            self.later = database.execute("""SELECT count(*) FROM allocation
                WHERE alloc_ns > 0 AND id IN (SELECT allocation_id FROM earlier_block)""").fetchone()[0]


def traces(path):
    """Returns the traces of one process in their order."""
    complete = sorted(glob.glob(path + ".r*[0-9]"), key=lambda name: int(name.rsplit(".r")[-1]))
    return [name for name in complete if re.fullmatch(r".*\.r\d+", name)] + [path]


def sequence(path, name):
    """Reads the traces of one process. Checks that each goes on where the one before has ended."""
    sessions = [Session(trace) for trace in traces(path)]
    for i, one in enumerate(sessions):
        wrong = {key: one.meta[key] for key in ODD if int(one.meta[key])}
        check(not wrong and not one.problems, f"{name}, trace {i + 1}: {wrong} {one.problems[:3]}")
        check(one.later == 0, f"{name}, trace {i + 1}: {one.later} earlier blocks have a later time")
        if i == 0:
            check(not one.begin and "rotation" not in one.meta, f"{name}: the first trace has earlier blocks")
            continue
        check(one.meta["rotation"] == i + 1, f"{name}, trace {i + 1} is called {one.meta.get('rotation')}")
        other = set(one.begin) ^ set(sessions[i - 1].end)
        # The program may have told the type of its last block after the rotation: all else is the same.
        told = {block.split(",")[0] for block in other}
        late = len(other) == 2 and len(told) == 1 and sum("'exact'" in block for block in set(one.begin) - set(sessions[i - 1].end)) == 1
        check(not other or late,
              f"{name}, trace {i + 1}: begins with {len(one.begin)} blocks after {len(sessions[i - 1].end)}; {sorted(other)[:4]}")
    return sessions


def start(name, arguments, options=("--sample=64",), environment=None, **keywords):
    path = recording.folder("rotate-" + name) + "/trace.bin"
    run = subprocess.Popen([BUILD + "/bin/mprof-run", "--quiet", "-o", path, *options, *arguments],
                           env={**os.environ, **(environment or {})}, stderr=subprocess.PIPE, text=True,
                           cwd=os.path.dirname(path), **keywords)
    return run, path


def hammer(name, arguments, options=("--sample=64",), most=5, begins=False):
    """Rotates the program's trace again and again while it runs. A program that has ended before the second
    rotation runs again: the suite's time limit ends a wait in vain. If the program says so when it `begins`, the
    first rotation waits for that."""
    done = 0
    while done < 2:
        run, path = start(name, arguments, options, stdout=subprocess.PIPE if begins else None)
        check(not begins or run.stdout.readline() == "begins\n", f"{name}: the beginning")
        done = 0
        while run.poll() is None and done < most:
            done += subprocess.run([BUILD + "/bin/mprof-ctl", "--quiet", "--wait=30", path, "rotate"], stderr=subprocess.DEVNULL).returncode == 0
        errors = run.communicate()[1]
        check(run.returncode == 0 and not errors, f"{name}: {run.returncode} {errors}")
    return sequence(path, name), path


# With the same draws, rotated or not, the same blocks are live, and as many came and went.
def stepped(seed, rotated):
    run, path = start(f"steps-{seed}-{rotated}", [program("rotates")], ["--sample=4K"], {"MPROF_TEST_SEED": str(seed)},
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for step in range(4):
        run.stdin.write("\n")
        run.stdin.flush()
        check(run.stdout.readline() == f"{step + 1}\n", "a step")
        if rotated and step < 3:
            asked = subprocess.Popen([BUILD + "/bin/mprof-ctl", "--quiet", "--wait=60", path, "rotate"])
            while asked.poll() is None:  # the program answers in a heap call: its smallest step
                run.stdin.write(".")
                run.stdin.flush()
                time.sleep(0.002)
            check(asked.returncode == 0, f"rotation {step + 1}: {asked.returncode}")
    run.stdin.close()
    run.stdin = None
    check(run.wait() == 0, "the program's end")
    return sequence(path, f"steps {seed}")


differences, values = [], []
for seed in range(1, RUNS + 1):
    plain, rotated = stepped(seed, 0)[-1], stepped(seed, 1)
    last = rotated[-1]
    check(len(rotated) == 4, f"seed {seed}: {len(rotated)} traces")
    # A collection goes on in each trace, so the next one begins it again. It ends at the next step, if there is one.
    check([len(one.collections) for one in rotated] == [2, 2, 2, 2] and len(plain.collections) == 5,
          f"seed {seed}: collections {[one.collections for one in rotated]}")
    for one in rotated:
        check([open for _, open in one.collections] == [0, 1], f"seed {seed}: {one.collections}")
    check(plain.live == last.live, f"seed {seed}: {len(plain.live)} blocks are live, rotated {len(last.live)}")
    check(plain.meta["estimated_live_bytes_end"] == last.meta["estimated_live_bytes_end"], f"seed {seed}: {last.meta}")
    for key in ("allocations", "frees", "bytes_allocated"):
        earlier = {"allocations": "earlier_blocks", "bytes_allocated": "earlier_bytes"}.get(key)
        total = sum(one.meta[key] - one.meta.get(earlier, 0) for one in rotated)
        check(total == plain.meta[key], f"seed {seed}: {key} {plain.meta[key]}, rotated {total}")
    values.append(plain.meta["estimated_live_bytes_end"])
    differences.append(last.meta["estimated_live_bytes_end"] - values[-1])
mean = sum(values) / RUNS
error = math.sqrt(sum((value - mean) ** 2 for value in values) / (RUNS - 1) / RUNS)
check(abs(sum(differences) / RUNS) < error, f"mean difference {sum(differences) / RUNS}, standard error {error}")
check(abs(mean - 4000 * 1000) < 5 * error, f"{mean} bytes are live by the sample, standard error {error}, in truth about 4,000,000")

# Threads allocate and free during rotations, and stacks of a module come and go.
folder = recording.folder("rotate-logs")
sessions, _ = hammer("stress", [program("stress"), folder, program("stress_plugin.so"), "4", "1500", "7"])
check(sum(len(one.threads) > 1 for one in sessions) >= 2, f"threads by trace: {[len(one.threads) for one in sessions]}")
# Blocks of arenas are carried, too.
sessions, _ = hammer("sampled", [program("rotates"), "100"], begins=True)
check(any("'pool'" in block for one in sessions for block in one.begin), "no block of an arena is carried")
for what in ("'even', 'exact'", "'odd', 'exact'", "work:7"):
    check(any(what in block for one in sessions for block in one.begin), f"no block with {what} is carried")
# So are the types that the program has told: of blocks of the heap and of the arena, by a symbol and by a kind.
for what in ("'widget_tag', 'exact'", "'odd', 'exact'"):
    check(any(what in block and "'pool'" not in block for one in sessions for block in one.begin), f"no block with {what} is carried")
check(any("'pool'" in block and "'widget_tag'" in block for one in sessions for block in one.begin),
      "no block of the arena has the type that was told later")
# Children are forked and programs executed during rotations.
sessions, path = hammer("forks", [program("forks"), "many", "10"], ["--sample=512"])
check(len(glob.glob(path + ".d/*")) == 10, f"{len(glob.glob(path + '.d/*'))} children")
for child in glob.glob(path + ".d/*"):
    sequence(child, "child")

# --rotate and --keep: the newest complete trace stays, and files of others. A trace that grows goes on early.
def until(true, run, write="."):
    """Makes heap calls until something is true. The suite's time limit ends a wait in vain."""
    while not true():
        run.stdin.write(write)
        run.stdin.flush()
        if write == "\n":
            run.stdout.readline()
        time.sleep(0.005)


def end(run, name):
    run.stdin.close()
    run.stdin = None
    errors = run.communicate()[1]
    check(run.returncode == 0 and not errors, f"{name}: {run.returncode} {errors}")


run, path = start("keep", [program("rotates")], ["--sample=8K", "--rotate=1s", "--keep=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
open(path + ".r0", "w").close()
until(lambda: os.path.exists(path + ".r2") and not os.path.exists(path + ".r1"), run)
end(run, "keep")
check(os.path.exists(path + ".r0"), "a file of somebody else is gone")
check(not os.path.exists(path + ".r1") and os.stat(path + ".r2").st_mode & 0o777 == 0o600, f"keep: {traces(path)}")
os.makedirs(path + ".d")
for name in "77.r1", "77.2.r3":
    os.link(path + ".r2", f"{path}.d/{name}")
run = subprocess.run([BUILD + "/bin/mprof-run", "-q", "-f", "-o", path, "true"])
check(run.returncode == 0 and not os.path.exists(path + ".r2") and not os.path.exists(path + ".d") and os.path.exists(path + ".r0"),
      f"--force replaces a rotated recording: {run} {os.listdir(os.path.dirname(path))}")
run, path = start("grow", [program("rotates")], ["--sample=1K", "--rotate=1h", "--max-size=512K"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
until(lambda: os.path.exists(path) and os.stat(path).st_blocks * 512 > 300000 or os.path.exists(path + ".r1"), run, "\n")
until(lambda: os.path.exists(path + ".r1"), run)
end(run, "grow")
check(len(sequence(path, "grow")) >= 2, "a trace that grows")

# A recording that cannot be rotated goes on as it was.
run, path = start("whole", [program("rotates")], [], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
run.stdin.write("\n..")
run.stdin.flush()
run.stdout.readline()
asked = subprocess.Popen([BUILD + "/bin/mprof-ctl", path, "rotate"], stderr=subprocess.PIPE, text=True)
while asked.poll() is None:
    run.stdin.write(".")
    run.stdin.flush()
    time.sleep(0.002)
check(asked.returncode == 1 and "--sample" in asked.stderr.read(), "mprof-ctl names the reason")

# mprof-run gives up what it does not need. The program keeps all: it might execute a program with more rights.
def rights(process):
    text = open(f"/proc/{process}/status").read()
    return dict(re.findall(r"^(NoNewPrivs|CapAmb):\s*(\w+)$", text, re.M))


def recorded():
    """Returns the pid in the header of the trace."""
    with open(path, "rb") as file:
        return int.from_bytes(file.read(76)[72:], "little")


own, child = rights("self"), recorded()
while rights(run.pid)["NoNewPrivs"] != "1":  # the program may be faster
    time.sleep(0.002)
check(rights(child) == own, f"the program has {rights(child)} instead of {own}")
run.stdin.close()
run.stdin = None
check(run.wait() == 0 and traces(path) == [path], f"{traces(path)}")
ambient = ["setpriv", "--inh-caps=+kill", "--ambient-caps=+kill"]
if subprocess.run([*ambient, "true"], stderr=subprocess.DEVNULL).returncode == 0:
    run = subprocess.Popen([*ambient, BUILD + "/bin/mprof-run", "-q", "-f", "-o", path, program("rotates")],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    run.stdin.write("\n")
    run.stdin.flush()
    run.stdout.readline()
    child = recorded()
    while int(rights(run.pid)["CapAmb"], 16) != 0:
        time.sleep(0.002)
    check(int(rights(child)["CapAmb"], 16) == 1 << 5, f"the program keeps its ambient capabilities: {rights(child)}")
    run.communicate()
    check(run.returncode == 0, "the program with an ambient capability")
for options, what in ((["--rotate=1s"], "--sample"), (["--sample=1M", "--rotate=0s"], "at least 1s"), (["--keep=3"], "--rotate"),
                      (["--sample=1M", "--rotate=9s", "--mmap"], "cannot be used together")):
    run = subprocess.run([BUILD + "/bin/mprof-run", *options, "true"], capture_output=True, text=True)
    check(run.returncode == 2 and what in run.stderr, f"{options}: {run}")
recording.done()
