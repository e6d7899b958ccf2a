# SPDX-License-Identifier: BSD-2-Clause
"""mprof-run --pid and programs that are hard to stop: they create threads, load libraries or execute themselves all the
time. At its end, children that never come to a safe point are left side by side."""
import os
import subprocess
import time

import recording
from recording import BUILD, check, done, folder, program

FOLDER = folder("attach-restless")
RUN = BUILD + "/bin/mprof-run"


def begin(*modes):
    target = subprocess.Popen([program("attached_restless"), *modes], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    check(target.stdout.readline() == "ready\n", f"{modes} begins")
    return target


def end(target):
    said = target.communicate("", timeout=60)[0]
    check(target.returncode == 0 and said == "ok\n", f"unharmed: {target.returncode} {said!r}")


def attach(target, *options, **keywords):
    return subprocess.run([RUN, "-q", "-f", "-o", FOLDER + "/trace.bin", "--pid", str(target.pid), *options],
                          capture_output=True, text=True, **keywords)


# The two loops need hardware breakpoints.
fires = subprocess.run([program("attached_restless"), "breakpoints"]).returncode == 0
if not fires:
    print("hardware breakpoints never stop a program here: loops are not tried")
for mode in ("threads", "loads") if fires else ():
    target = begin(mode)
    for _ in range(2):
        one = attach(target, "--duration", "0.1", timeout=60)
        check(one.returncode == 0 and one.stderr == "", f"{mode}: {one}")
    end(target)

target = begin("executes")
for _ in range(4):
    one = attach(target, "--duration", "0.5", timeout=60)
    # On a slow machine each program ends before mprof-run has read it.
    check(one.returncode == 0 and one.stderr == f"mprof-run: process {target.pid} has executed another program, which is not "
          "recorded; the trace ends there\n" or one.returncode == 1 and "it executes one program after another" in one.stderr,
          f"executes: {one}")
end(target)

target = begin("family", FOLDER)
run = subprocess.Popen([RUN, "-f", "-o", FOLDER + "/trace.bin", "--pid", str(target.pid)], stderr=subprocess.PIPE, text=True)
check("recording process" in run.stderr.readline(), "the family is recorded")
open(FOLDER + "/fork", "w").close()
while not os.path.exists(FOLDER + "/forked") and target.poll() is None:
    time.sleep(0.01)
run.terminate()
# One after another they would take a minute.
said = run.communicate(timeout=40)[1]
check(run.returncode == 0 and said.count("none of its threads came to a point") == 12, f"the family: {run.returncode} {said}")
end(target)

done()
