# SPDX-License-Identifier: BSD-2-Clause
"""Runs installed programs that check themselves, alone and recorded. The output and the exit status must be
the same, and the traces must have no odd event. programs.toml lists the programs.

usage: torture.py [--OPTION…] test | soak | NAME…
Options go to mprof-run. `soak` runs nothing unless MPROF_SOAK=1. Programs that are not installed are named.
The exit status is then 77, a skip, unless something else is wrong."""
import concurrent.futures
import glob
import os
import shutil
import sqlite3
import subprocess
import sys
import tomllib

BUILD = os.environ["MPROF_BUILD"]
HERE = os.path.dirname(os.path.abspath(__file__))
ODD = ("unmatched_frees", "double_frees", "overlaps", "ambiguous_pairs", "damaged_bytes", "missing_chunks",
       "orphaned_stacks", "unknown_records", "dropped_events")
LONGEST = 900  # seconds, after which a program counts as hanging


def environment(folder):
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "TMPDIR": folder, "LC_ALL": "C.UTF-8",
            "TZ": "UTC", "TERM": "xterm-256color", "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0",
            "GIT_CONFIG_NOSYSTEM": "1", "DEBUGINFOD_URLS": ""}


def run(command, folder, before=()):
    """Runs the command in an empty folder. Returns its exit status, output and messages."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        ended = subprocess.run([*before, "/bin/bash", "-c", command], cwd=folder, env=environment(folder),
                               stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return ("hangs", b"", b"")
    return (ended.returncode, ended.stdout, ended.stderr)


def odd(trace, empty, options):
    """Returns what is wrong with the traces of a run, or their number of events. Symbols are not looked up.
    With the fast clock the order of threads is not in the trace. If several hand one address around at once,
    a few frees are taken for those of others."""
    allowed = dict.fromkeys(ODD, 0)
    session = trace + ".db"
    ingest = subprocess.run([BUILD + "/bin/mprof-ingest", "--quiet", "--index=none", "--sysroot", empty, "-o",
                             session, trace], capture_output=True, text=True)
    if ingest.returncode != 0:
        return [f"{trace}: ingest ended with {ingest.returncode}: {ingest.stderr.strip()}"]
    with sqlite3.connect(session) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
        if "--clock=fast" in options:
            for key in ("ambiguous_pairs", "unmatched_frees", "double_frees", "overlaps"):
                allowed[key] = int(meta["events"]) // 100
        argv = meta.get("argv", "").split("\n")[0][:60]
        wrong = [f"{key} {meta[key]}" for key in ODD
                 if int(meta[key]) > allowed[key]]
        if wrong:
            wrong += [": ".join(map(str, row)) for row in
                      database.execute("SELECT kind, detail FROM problem WHERE kind <> 'failed allocation' LIMIT 5")]
    events = int(meta["events"])
    os.unlink(session)
    return [f"{trace} ({argv}): {line}" for line in wrong] or events


def differ(what, alone, recorded):
    if alone == recorded:
        return []
    a, b = (text.decode(errors="replace").splitlines() if isinstance(text, bytes) else [str(text)]
            for text in (alone, recorded))
    first = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return [f"{what} line {first + 1}: alone {a[first:first + 3]}, recorded {b[first:first + 3]}"]


def least_events(program, options):
    """Returns the fewest events to expect. A sample needs only a few to show that it works."""
    return program["events"] // 1000 if any(option.startswith("--sample") for option in options) else program["events"]


def is_dense(trace):
    """Returns True if the trace is compressed (trace-format.md: bit 4 of the flags at byte 20)."""
    with open(trace, "rb") as file:
        return file.read(24)[20] & 16 != 0


def torture(program, options):
    """Returns (name, what is wrong, traces, events)."""
    name = program["name"]
    place = os.path.abspath("torture-" + name + "".join(options))
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place + "/empty")
    work, trace = place + "/work", place + "/trace.bin"
    alone = run(program["command"], work)
    wrong = []
    if alone[0] != program.get("status", 0):
        wrong.append(f"alone it ended with {alone[0]}: {alone[1][-300:]} {alone[2][-300:]}")
    recorded = run(program["command"], work, [BUILD + "/bin/mprof-run", "--quiet", "-o", trace, *options])
    for what, one, two in zip(("exit status", "stdout", "stderr"), alone, recorded):
        wrong += differ(what, one, two)
    traces, events = [path for path in [trace, *glob.glob(trace + ".d/*")] if os.path.exists(path)], 0
    if traces:
        # Takes the whole run, whether or not its first program allocated anything.
        found = odd(trace if os.path.exists(trace) else trace + ".d", place + "/empty", options)
        if isinstance(found, int):
            events = found
        else:
            wrong += found
    else:
        wrong.append("no trace")
    if not wrong and events < least_events(program, options):
        wrong.append(f"{events} events, at least {least_events(program, options)} were expected")
    if "--compress" in options:
        wrong += [f"{path}: not compressed" for path in traces if not is_dense(path)]
    if not wrong:
        shutil.rmtree(place)
    return (name, wrong, len(traces), events)


def main(arguments):
    with open(HERE + "/programs.toml", "rb") as file:
        programs = tomllib.load(file)["program"]
    names = [program["name"] for program in programs]
    if len(set(names)) != len(names):
        sys.exit("programs.toml has a name twice")
    options = [argument for argument in arguments if argument.startswith("--")]
    arguments = arguments[len(options):]
    if arguments == ["soak"]:
        if os.environ.get("MPROF_SOAK") != "1":
            sys.exit(77)
        chosen = programs
    elif arguments == ["test"]:
        chosen = [program for program in programs if program.get("test")]
        for program in chosen:
            program["options"] = program.get("test_options", [])
    else:
        chosen = [program for program in programs if program["name"] in arguments]
        if len(chosen) != len(arguments):
            sys.exit(f"usage: torture.py [--OPTION…] test | soak | NAME…; the names are {' '.join(names)}")
    path = environment("")["PATH"]
    missing = [program for program in chosen
               if not all(shutil.which(need, path=path) or os.path.exists(need) for need in program["needs"])]
    failed = False
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for name, wrong, traces, events in pool.map(lambda one: torture(one, options + one.get("options", [])), [one for one in chosen if one not in missing]):
            print(f"{name}: {'wrong' if wrong else 'alike'}, {traces} traces, {events} events", flush=True)
            for line in wrong[:10]:
                print("   ", line)
            failed = failed or bool(wrong)
    for program in missing:
        print(f"{program['name']}: not installed; apt-get install {program['packages']}")
    sys.exit(1 if failed else 77 if missing else 0)


main(sys.argv[1:])
