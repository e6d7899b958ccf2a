# SPDX-License-Identifier: BSD-2-Clause
"""mprof-ctl: each of its commands on a program that allocates all the time and on one that does so when told,
from one thread and from many; and what it says if nothing can be asked."""
import os
import signal
import subprocess

import recording
from recording import check, sizes
from steps import CONTROL, ENDED, END_TICKS, REQUEST, STATE, Steps

CTL = recording.BUILD + "/bin/mprof-ctl"
ASKED, PAUSE = 1, 1


def ctl(target, *arguments):
    return subprocess.run([CTL, str(target), *arguments], capture_output=True, text=True)


def works(said, target, *arguments):
    run = ctl(target, "--wait", "100", *arguments)
    check(run.returncode == 0 and said in run.stdout and not run.stderr, f"{arguments}: {run}")


def fails(status, said, *arguments):
    run = ctl(*arguments)
    check(run.returncode == status and said in run.stderr and not run.stdout, f"{arguments}: {run}")


def check_commands(threads):
    steps = Steps("outside-spin")
    steps.do("s" * threads + "1")
    while ctl(steps.process.pid, "status").returncode != 0:
        pass  # mprof-run looks for the trace every few milliseconds
    for target in (steps.path, steps.pid(), steps.process.pid):
        works("state    recording", target, "status")
    works("paused", steps.pid(), "pause")
    works("was paused already", steps.path, "pause")
    works("state    paused", steps.path, "status")
    steps.do("2")
    works("marked", steps.path, "mark", "in the pause")
    works("recording", steps.path, "resume")
    works("was recording already", steps.path, "resume")
    steps.do("3")
    works("snapshot taken", steps.process.pid, "snapshot", "x" * 300)
    works("stopped", steps.path, "stop")
    steps.do("4")
    fails(1, "is finished", steps.path, "mark", "late")
    works("state    finished", steps.path, "status")
    trace = steps.end()
    check(sizes(trace, 6000) == {6001: 1, 6003: 1}, f"{threads} threads: blocks {sizes(trace, 6000)}")
    check(trace.marks == ["in the pause", "x" * 255], f"{threads} threads: marks {trace.marks}")


def check_idle():
    steps = Steps("outside-idle")
    steps.do("1")
    fails(1, "the request to mark is withdrawn", steps.path, "--wait", "0.1", "mark", "never")
    steps.do("2")
    asking = subprocess.Popen([CTL, "--quiet", "--wait", "100", steps.path, "mark", "then"])
    while steps.header("<I", CONTROL) != ASKED:
        pass
    fails(1, "another request is pending", steps.path, "--wait", "0", "mark", "between")
    steps.do("3")
    check(asking.wait() == 0, "the mark that waited")
    # A process that asks and dies leaves nothing behind.
    asking = subprocess.Popen([CTL, "--wait", "100", steps.path, "mark", "orphan"])
    while steps.header("<I", CONTROL) != ASKED:
        pass
    asking.kill()
    asking.wait()
    asking = subprocess.Popen([CTL, "--quiet", "--wait", "100", steps.path, "pause"])
    while steps.header("<I", REQUEST) != PAUSE or steps.header("<I", CONTROL) != ASKED:
        pass
    steps.do("4")
    check(asking.wait() == 0, "a request after one that was left over")
    steps.do("5k")
    trace = steps.end()
    check(trace.marks == ["then"], f"idle: marks {trace.marks}")
    check(sizes(trace, 6000) == {6001: 1, 6002: 1, 6003: 1, 6004: 1}, f"idle: {sizes(trace, 6000)}")


def check_many():
    """Many ask at once. Each mark is there once."""
    steps = Steps("outside-many")
    steps.do("ssssssss")
    runs = [subprocess.Popen([CTL, "--quiet", "--wait", "100", steps.path, "mark", f"m{i}"]) for i in range(20)]
    check([run.wait() for run in runs] == [0] * 20, "twenty that ask at once")
    trace = steps.end()
    check(sorted(trace.marks) == sorted(f"m{i}" for i in range(20)), f"marks {trace.marks}")


def check_callback():
    """The callback runs before the snapshot, may free any blocks, and does not call itself."""
    steps = Steps("outside-callback")
    steps.do("k+p-p+k")
    asking = subprocess.Popen([CTL, "--quiet", "--wait", "100", steps.path, "snapshot", "asked"])
    while steps.header("<I", CONTROL) != ASKED:
        pass
    steps.do("1k")
    check(asking.wait() == 0, "the snapshot that is asked for")
    trace = steps.end()
    check(trace.marks == ["within", "own", "own", "within", "asked"], f"callback: marks {trace.marks}")
    check(sizes(trace, 6000) == {6001: 1, 7000: 3, 8000: 2}, f"callback: blocks {sizes(trace, 6000)}")
    blocks = {event[1]: event[3] for event in trace.threads[1].events() if event[0] != "free"}
    freed = [event for event in trace.threads[1].events() if event[0] == "free" and blocks.get(event[1]) == 7000]
    check(len(freed) >= 2, f"callback: the blocks it frees {freed}")


def check_sampled(mean):
    """The first heap call of any kind does what is asked, even if a sample leaves it out."""
    steps = Steps(f"outside-sampled-{mean}", f"--sample={mean}")
    steps.do("1k")
    for i, (command, step) in enumerate((("mark", "1"), ("mark", "c"), ("mark", "g"), ("snapshot", "k"), ("pause", "c"),
                                         ("mark", "1"), ("resume", "1"), ("mark", "1"), ("stop", "1"))):
        name = [f"m{i}"] if command in ("mark", "snapshot") else []
        asking = subprocess.Popen([CTL, "--quiet", "--wait", "30", steps.path, command, *name])
        while steps.header("<I", CONTROL) != ASKED and asking.poll() is None:
            pass
        steps.do(step)
        check(asking.wait() == 0, f"--sample={mean}: {command} {i} is not done by the step {step}")
    works("state    finished", steps.path, "status")
    trace = steps.end()
    check(trace.marks == ["m0", "m1", "m2", "m3", "m5", "m7"], f"--sample={mean}: marks {trace.marks}")


def check_sealed(*options):
    """A program that makes no heap call when recording is to stop. mprof-run ends the recording. Later
    events are not in it and not counted as lost, and a child of the program makes no trace."""
    steps = Steps("outside-sealed", "--duration=0.3", *options)
    steps.do("r12")
    steps.wait_for(STATE, ENDED)
    sealed_at = steps.header("<Q", END_TICKS)
    steps.do("s" if options else "")
    steps.do("3pmkr4f5e")
    steps.do("6sx7e8")
    trace = steps.end()
    check(sizes(trace, 6000) == {6001: 1, 6002: 1} or "--sample=64M" in options, f"sealed: blocks {sizes(trace, 6000)}")
    check(trace.marks == [] and trace.ends == [], f"sealed: marks {trace.marks}, ends {trace.ends}")
    check(steps.header("<Q", END_TICKS) == sealed_at > 0 or "--compress" in options, "sealed: the end is not moved")
    check(steps.others() == [], f"sealed: {steps.others()}")
    ingested = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "--force", "-o",
                               os.path.dirname(steps.path) + "/session.db", steps.path], capture_output=True, text=True)
    check(ingested.returncode == 0 and not ingested.stderr, f"sealed: ingest {ingested}")


def check_sealed_against_others():
    """A request of another process does not keep recording in such a program from its end."""
    steps = Steps("outside-sealed-asked", "--duration=0.5")
    steps.do("1")
    asking = subprocess.run([CTL, "--wait", "60", steps.path, "mark", "never"], capture_output=True, text=True)
    check(asking.returncode == 1 and "is finished" in asking.stderr, f"a mark when recording ends: {asking}")
    check(steps.end().marks == [], "a mark when recording ends")


def check_refusals():
    folder = recording.folder("outside-refusals")
    with open(folder + "/picture", "wb") as file:
        file.write(b"\x89PNG\r\n" * 2000)
    fails(1, "is not recorded", os.getpid(), "pause")
    fails(1, "is not a trace", folder + "/picture", "pause")
    fails(1, "No such file or directory; name a process that records, or its trace", folder + "/nothing", "status")
    fails(2, "is not a command; these are: status pause resume mark snapshot references rotate stop", folder + "/nothing", "begin")
    fails(2, "the process or trace comes before the command", "pause", folder + "/nothing")
    fails(2, "takes a NAME", folder + "/nothing", "mark")
    fails(2, "takes no NAME", folder + "/nothing", "pause", "now")
    fails(2, "no command named", folder + "/nothing")
    fails(2, "is not a number of seconds", folder + "/nothing", "--wait", "soon", "pause")
    steps = Steps("outside-killed")
    steps.do("1")
    os.kill(steps.pid(), signal.SIGKILL)
    steps.process.wait()
    fails(1, "has ended", steps.path, "pause")
    works("ended without completing the trace", steps.path, "status")
    fails(1, "no process", steps.process.pid, "status")


def check_other_namespace():
    """The numbers in the trace mean other processes here, as for one who looks into a container from outside."""
    apart = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run(apart + ["true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("another pid namespace: not tried, because unshare --pid is not allowed here")
        return
    trace = recording.folder("outside-namespace") + "/trace.bin"
    with subprocess.Popen(apart + [recording.BUILD + "/bin/mprof-run", "-q", "-o", trace, "--", "cat"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        run.stdin.write(b"runs\n")
        run.stdin.flush()
        check(run.stdout.readline() == b"runs\n", "cat runs in a namespace of its own")
        works("recorded by a process of another pid namespace", trace, "status")
        fails(1, "run mprof-ctl inside that container", trace, "pause")
        run.stdin.close()
    check(run.returncode == 0, f"{run}")
    fails(1, "is finished", trace, "pause")


check_commands(1)
check_commands(8)
check_idle()
check_many()
check_callback()
for mean in ("512K", "64M"):
    check_sampled(mean)
check_sealed()
check_sealed("--sample=64M")
check_sealed("--start-on=call", "--compress")
check_sealed_against_others()
check_refusals()
check_other_namespace()
recording.done()
