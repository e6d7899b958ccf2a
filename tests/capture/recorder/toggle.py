# SPDX-License-Identifier: BSD-2-Clause
"""mprof-run --toggle: a signal to the program switches recording off and on, from a thread that allocates
and from one that does not. A program with its own handler keeps it."""
import os
import signal
import subprocess

import recording
from recording import BUILD, check, program, sizes
from steps import PAUSED, Steps

ON, OFF = 0, 1


def steps(name, number="SIGUSR1", *more):
    return Steps(name, f"--toggle={number}", *more, command=[program("toggled")])


def switch(one, state, number=signal.SIGUSR1):
    os.kill(one.pid(), number)
    one.wait_for(PAUSED, state)


# One thread: its blocks are recorded while recording is on.
one = steps("toggle-one")
one.do("1")
switch(one, OFF)
one.do("2")
switch(one, ON)
one.do("3")
switch(one, OFF)
one.do("4")
trace = one.end()
check(sizes(trace, 6000) == {6001: 1, 6003: 1}, f"one thread: {sizes(trace, 6000)}")

# Another signal, sent to mprof-run, which passes it on. Recording begins off.
late = steps("toggle-late", "usr2", "--start-on=call")
late.do("1")
os.kill(late.process.pid, signal.SIGUSR2)
late.wait_for(PAUSED, ON)
late.do("2")
check(sizes(late.end(), 6000) == {6002: 1}, "begins with the first signal")

# A thread that only reads gets the signal while another allocates all the time.
busy = steps("toggle-busy")
busy.do("s1")
for _ in range(20):
    switch(busy, OFF)
    switch(busy, ON)
busy.do("2")
trace = busy.end()
check(sizes(trace, 6000) == {6001: 1, 6002: 1} and sizes(trace, 5000).get(5000, 0) > 0, f"busy: {sizes(trace, 5000)}")

# The signal comes ten times while the thread allocates: five spans of 500 blocks are left out.
inside = steps("toggle-inside")
inside.do("1i2")
trace = inside.end()
check(sizes(trace, 6000) == {6001: 1, 7000: 2500, 6002: 1}, f"inside: {sizes(trace, 6000)}")


def said(name, feed, before=()):
    path = recording.folder(name) + "/trace.bin"
    run = subprocess.run([*before, BUILD + "/bin/mprof-run", "--quiet", "--toggle=10", "-o", path, program("toggled")],
                         input=feed, capture_output=True, text=True)
    check(run.returncode == 0, f"{name}: {run}")
    return run


# The program's own handler runs, and one line says that there is no toggle.
own = said("toggle-own", "h" + "i" + "H")
check(own.stdout == "hi0" and own.stderr.count("\n") == 1 and "its own handler for signal 10" in own.stderr,
      f"own handler: {own.stdout} {own.stderr}")
check(said("toggle-none", "1").stderr == "", "nothing is said where there is none")
for bad in ("SIGKILL", "SIGSEGV", "33", "0", "USR3", "SIGRTMIN+99", ""):
    run = subprocess.run([BUILD + "/bin/mprof-run", "--toggle=" + bad, program("toggled")], capture_output=True, text=True)
    check(run.returncode == 2 and "is not a signal" in run.stderr, f"{bad}: {run}")
recording.done()
