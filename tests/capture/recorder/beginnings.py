# SPDX-License-Identifier: BSD-2-Clause
"""Begins and ends recording by --start-on, --stop-on, --start-after and --duration. Each test sees by the
sizes in the trace which of the program's blocks were recorded."""
import glob
import os
import signal
import sqlite3
import subprocess

import recording
from recording import check, program, sizes
from steps import CONTROL, ENDED, PAUSED, STATE, Steps
from trace_text import Trace

RUN = recording.BUILD + "/bin/mprof-run"
RECORDING, NOT_BEGUN = 0, 2
RUN_WORD, RUN_OVER = 400, 2  # in the file header
BY_STOP = 4  # why a trace ends


def blocks(what, trace, expected):
    check(sizes(trace, 6000) == {size: 1 for size in expected}, f"{what}: blocks {sizes(trace, 6000)}")


def check_signal():
    steps = Steps("beginnings-signal", "--start-on=signal", "--stop-on=signal")
    steps.do("1s")
    check(steps.header("<I", PAUSED) == NOT_BEGUN, "it has not begun")
    steps.process.send_signal(signal.SIGUSR2)
    steps.wait_for(PAUSED, RECORDING)
    steps.do("2")
    steps.process.send_signal(signal.SIGUSR2)
    steps.wait_for(STATE, ENDED)
    steps.do("3")
    trace = steps.end()
    blocks("signal", trace, [6002])


def check_file(name="beginnings-file", before=()):
    steps = Steps(name, "--start-on=file:begin", "--stop-on", "file:end", before=before)
    steps.do("1s")
    open("begin", "w").close()
    steps.wait_for(PAUSED, RECORDING)
    steps.do("2")
    open("end", "w").close()
    steps.wait_for(STATE, ENDED)
    steps.do("3")
    blocks("file", steps.end(), [6002])


def check_old_kernel():
    """If there is no descriptor of the program, the conditions are still watched, and so is the program's
    end."""
    check_file("beginnings-old", [program("without_pidfd")])
    run = [program("without_pidfd"), RUN, "--quiet", "-o", recording.folder("beginnings-ended") + "/trace.bin", "sh", "-c"]
    check(subprocess.run([*run, "exit 7"]).returncode == 7, "the status of the program on an old kernel")


def check_resident():
    steps = Steps("beginnings-rss", "--start-on=rss>100M", "--stop-on=rss>200M")
    steps.do("1s")
    steps.do("b")
    steps.wait_for(PAUSED, RECORDING)
    steps.do("2b")
    steps.wait_for(STATE, ENDED)
    steps.do("3")
    blocks("rss", steps.end(), [6002, 120 << 20])


def check_time():
    steps = Steps("beginnings-time", "--start-after=0.2", "--duration=0.2")
    steps.do("1s")
    steps.wait_for(STATE, ENDED)
    check(steps.header("<I", PAUSED) == RECORDING, "it has begun before it ended")
    steps.do("2")
    trace = steps.end()
    check(sizes(trace, 6000) == {} and sizes(trace, 32).get(32, 0) > 0, f"time: {sizes(trace, 32)}")


def check_call():
    steps = Steps("beginnings-call", "--start-on=call")
    steps.do("1r2")
    blocks("call", steps.end(), [6002])
    # A program that never begins leaves a complete trace without a block.
    steps = Steps("beginnings-never", "--start-on=call")
    steps.do("12")
    trace = steps.end()
    check(sizes(trace) == {} and trace.ends, f"never: {sizes(trace)}")


def check_idle():
    """A request to an idle program does not keep others from asking."""
    steps = Steps("beginnings-idle", "--start-on=file:begin")
    steps.do("1")
    open("begin", "w").close()
    marking = subprocess.Popen([recording.BUILD + "/bin/mprof-ctl", "--quiet", "--wait", "100", steps.path, "mark", "m"])
    while steps.text(144, 2) != b"m\0" or steps.header("<I", CONTROL) != 1:
        pass
    steps.do("2")
    check(marking.wait() == 0, "the mark between")
    steps.do("s")
    steps.wait_for(PAUSED, RECORDING)
    steps.do("3")
    trace = steps.end()
    check(trace.marks == ["m"] and 6003 in sizes(trace), f"idle: {trace.marks} {sizes(trace, 6000)}")


def check_executed():
    """A program executed in place of the first one waits too, and is found."""
    steps = Steps("beginnings-exec", "--start-on=file:begin", command=["/bin/sh", "-c", 'exec "$0"', program("steps")])
    steps.do("1s")
    steps.path = glob.glob(steps.path + ".d/*")[0]
    check(steps.header("<I", PAUSED) == NOT_BEGUN, "the executed program waits")
    open("begin", "w").close()
    steps.wait_for(PAUSED, RECORDING)
    steps.do("2")
    blocks("executed", steps.end(), [6002])


def check_run():
    """A condition that mprof-run watches holds for all processes of the run. Those that wait begin, those
    that come later record at once, all stop, and those that come after that make no trace."""
    steps = Steps("beginnings-run", "--start-on=file:begin", "--stop-on=file:end")
    steps.do("1x3s")
    executed = steps.others()[-1]
    check(steps.header("<I", PAUSED, executed) == NOT_BEGUN, "an executed program waits")
    steps.do("f4")
    while len(steps.others()) < 2:
        pass
    forked = next(path for path in steps.others() if path != executed)
    check(steps.header("<I", PAUSED, forked) == NOT_BEGUN, "a forked child waits")
    steps.do("s")
    open("begin", "w").close()
    for path in (executed, forked):
        steps.wait_for(PAUSED, RECORDING, path)
    steps.wait_for(RUN_WORD, RECORDING)
    steps.do("5e6ex7s")
    later = next(path for path in steps.others() if path not in (executed, forked))
    open("end", "w").close()
    steps.wait_for(STATE, ENDED, later)
    steps.wait_for(RUN_WORD, RUN_OVER)
    steps.do("8ex9e1")
    trace = steps.end()
    check(len(steps.others()) == 3, f"who comes after the end makes no trace: {steps.others()}")
    blocks("run: the program itself", trace, [])
    blocks("run: the executed one", Trace(executed), [6006])
    blocks("run: the forked one", Trace(forked), [6005])
    blocks("run: the later one", Trace(later), [6007])


def check_processes():
    """A condition that the recorder watches is watched by each process for itself."""
    steps = Steps("beginnings-processes", "--start-on=mark:two", "--stop-on=mark:four")
    steps.do("1mx2mm3e4m5f6mm7e8")
    trace = steps.end()
    others = {Trace(path).header["pid"]: Trace(path) for path in steps.others()}
    executed, forked = (others[pid] for pid in sorted(others, key=int))
    blocks("processes: the program itself", trace, [6005, 6008])
    blocks("processes: the executed one", executed, [6003])
    blocks("processes: the forked one", forked, [6006])


def check_inside():
    """Limits that the recorder counts: exact with one thread and small limits, otherwise within a grain of
    each thread."""
    steps = Steps("beginnings-live", "--start-on=live>100M", "--stop-on=live>300M")
    steps.do("12b3")
    check(steps.header("<I", PAUSED) == RECORDING, "120 MiB are more than 100")
    steps.do("4b5b67")
    seen = sizes(steps.end(), 6000)
    check(seen == {6003: 1, 6004: 1, 6005: 1, 120 << 20: 2}, f"live: blocks {seen}")
    for kind in ("plain", "sampled"):
        steps = Steps("beginnings-allocs-" + kind, "--start-on=allocs>20", "--stop-on=allocs>30",
                      *(["--sample=1"] if kind == "sampled" else []))
        steps.do("1" * 60)
        trace = steps.end()
        check(5 <= sizes(trace, 6000).get(6001, 0) <= 10, f"allocs, {kind}: {sizes(trace, 6000)}")
    steps = Steps("beginnings-threads", "--start-on=allocs>5000", "--stop-on=allocs>10000")
    steps.do("ssss")
    steps.wait_for(STATE, ENDED)
    trace = steps.end()
    count = sum(sizes(trace).values())
    check(5000 - 4 * 256 <= count <= 5000 + 5 * 256, f"allocs of threads: {count}")
    # Frees count too: the live bytes never come near 200 MiB, but the allocated bytes do.
    steps = Steps("beginnings-freed", "--start-on=live>200M")
    steps.do("bcbcbc1")
    check(steps.header("<I", PAUSED) == NOT_BEGUN, "what is freed is not live")
    steps.do("bb2")
    blocks("freed", steps.end(), [6002])
    # Frees of blocks from before the recording are counted separately from errors.
    steps = Steps("beginnings-before", "--start-on=call")
    steps.do("brc1")
    steps.end()
    session = os.path.dirname(steps.path) + "/session.db"
    subprocess.run([recording.BUILD + "/bin/mprof-ingest", "--quiet", "-o", session, steps.path], check=True)
    with sqlite3.connect(session) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
        marks = database.execute("SELECT kind FROM mark ORDER BY ns").fetchall()
    check(meta["unseen_frees"] == 1 and meta["unmatched_frees"] == 0, f"the free of a block from before: {meta}")
    check(marks == [("pause",), ("resume",)], f"marks: {marks}")


def check_marks():
    steps = Steps("beginnings-marks", "--start-on=mark:two", "--stop-on=mark:five")
    steps.do("1m2m3m4m5m6")
    trace = steps.end()
    blocks("marks", trace, [6003, 6004, 6005])
    check(trace.marks == ["one", "two", "three", "four", "five"], f"marks: {trace.marks}")


def called(name, steps, *options, program_name="called"):
    return recording.Recording("beginnings-" + name, [program(program_name), steps, program("called_plugin.so")], run_options=options)


def check_functions():
    """The first allocation under a function is the first, or the last, that is recorded."""
    for kind in ("called", "called_fixed"):
        for start, steps, expected in (("watched", "1a2", [6100, 6002]), ("watched", "1t2", [6100, 6002]),
                                       ("resizing", "1r2", [6400, 6002]), ("plugin_called", "1p2", [6300, 6002]),
                                       ("quiet", "1n2", []), ("nowhere", "1a2", [])):
            seen = called("function", steps, "--start-on=call:" + start, program_name=kind)
            blocks(f"{kind} {steps}, from {start}", seen.main, expected)
            recording.check_sound(seen)
            check(("nothing was recorded" in seen.run.stderr) == (expected == []), f"{start}: {seen.run.stderr}")
        blocks("until a function", called("until", "1b2", "--stop-on=call:ending", program_name=kind).main, [6001, 6200])
    # A call of the ending function before the beginning does not end it, though its contexts are the same.
    for options in ([], ["--sample=1"]):
        seen = called("from-until", "b1a2b3", "--start-on=call:watched", "--stop-on=call:ending", *options)
        blocks("from a function until another", seen.main, [6100, 6002, 6200])
    # A forked child watches for itself, even if its parent has recorded the contexts.
    seen = called("forked", "1F2a3", "--start-on=call:watched")
    blocks("the parent of the one that calls", seen.main, [])
    blocks("the child that calls", seen.others[0], [6100, 6003])
    seen = called("forked-later", "1aF2b3", "--start-on=call:watched", "--stop-on=call:ending")
    blocks("the parent", seen.main, [6100])
    blocks("the child that ends", seen.others[0], [6002, 6200])
    # A sample that takes nothing still takes the stacks that it needs.
    seen = called("sampled", "1b2", "--stop-on=call:ending", "--sample=1024G")
    check(seen.main.ends == [BY_STOP], f"a sample ends too: {seen.main.ends}")


def check_usage():
    for option in ("--start-on=noon", "--start-on=rss>", "--start-on=rss>0", "--stop-on=file:", "--start-after=soon",
                   "--duration=0", "--duration=-1", "--stop-on=rss>1T", "--start-on=live>", "--stop-on=allocs>x", "--start-on=live>1T",
                   "--start-on=mark:", "--stop-on=mark:a,b", "--stop-on=mark:" + "x" * 64,
                   "--start-on=call:", "--start-on=call:a,b", "--stop-on=call:" + "x" * 256):
        run = subprocess.run([RUN, option, "true"], capture_output=True, text=True)
        check(run.returncode == 2 and option.split("=")[0] in run.stderr, f"{option}: {run}")
    run = subprocess.run([RUN, "--unwind=off", "--stop-on=call:main", "true"], capture_output=True, text=True)
    check(run.returncode == 2 and "--unwind=off" in run.stderr, f"without stacks: {run}")
    run = subprocess.run([RUN, "--start-on=call", "--start-after=1", "true"], capture_output=True, text=True)
    check(run.returncode == 2 and "cannot be used together" in run.stderr, f"both: {run}")


folder = recording.folder("beginnings")
os.chdir(folder)


def fresh():
    for name in ("begin", "end"):
        if os.path.exists(name):
            os.unlink(name)


for one in (check_signal, check_file, check_old_kernel, check_resident, check_time, check_call, check_idle, check_executed, check_run, check_processes, check_inside, check_marks, check_functions, check_usage):
    fresh()
    one()
recording.done()
