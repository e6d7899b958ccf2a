# SPDX-License-Identifier: BSD-2-Clause
"""errno after every entry point, the calls of mprof.h and the C++ header. It is the same as without the
recorder, while recording goes on, is paused, is out of room and is stopped."""
import os
import re
import subprocess

import recording
from recording import Recording, check, check_sound

build, source = recording.BUILD, os.environ["MPROF_SOURCE"]
plugin = recording.program("stress_plugin.so")
folder = recording.folder("errno-programs")
types = folder + "/errno_types"
made = subprocess.run(["c++", "-O1", "-fno-builtin", f"-I{source}/capture", f"-I{source}/capture/cxx", "-o", types,
                       source + "/tests/capture/cxx/errno_types.cpp"], capture_output=True, text=True)
check(made.returncode == 0, f"errno_types is not built: {made.stderr}")

programs = {
    "errno_kept": lambda rounds: [recording.program("errno_kept"), rounds],
    "errno_calls": lambda rounds: [recording.program("errno_calls"), plugin, rounds],
    "errno_types": lambda rounds: [types, rounds],
}
ways = [("1", [], {}, False), ("3000", [], {}, False), ("1000", ["--clock=fast", "--free-stacks"], {}, False),
        ("100", ["--unwind=off"], {}, False), ("100", ["--mmap"], {}, False),
        ("100", ["--unwind=instrument"], {}, False), ("100", ["--unwind=fp"], {}, False), ("100", [], {"MPROF_TEST_CLOCK": "ns"}, False),
        ("3000", ["--max-size=68K"], {}, True)]
for name, arguments in programs.items():
    alone = subprocess.run(arguments("3"), capture_output=True, text=True)
    check(alone.returncode == 0, f"{name}: alone it gives {alone.returncode}: {alone.stderr}")
    for rounds, options, environment, stops in ways:
        one = Recording("errno-out", arguments(rounds), run_options=options, environment=environment)
        what = f"{name} {rounds} {options} {environment}"
        check(one.run.returncode == 0, f"{what}: {one.run.returncode} {one.run.stderr[-500:]}")
        check(one.run.stderr.count("mprof: ") <= stops, f"{what}: said {one.run.stderr[:500]}")
        check(stops == (one.main.header["state"] == "limit"), f"{what}: {one.main.header['state']}")
        if not stops:
            check_sound(one)
        if name == "errno_kept" and not stops:
            # malloc, calloc, realloc, reallocarray, posix_memalign, aligned_alloc
            check(len(one.main.failed) == 60, f"{what}: {len(one.main.failed)} failed calls in the trace, 60 were made")

# The programs test all public functions.
public = re.findall(r"\b([a-zA-Z_]\w*);", open(source + "/capture/mprof.map").read().split("local:")[0])
public.remove("mprof_libraries_are_ready")  # only the loader calls it
tested = "".join(open(path).read() for path in (source + "/tests/programs/errno_kept.c", source + "/tests/programs/errno_calls.c"))
missing = [name for name in public if not re.search(rf"\b{name}\(", tested) and name not in ("mprof_api_1", "mprof_attach_1") and
           not (name in ("_exit", "_Exit") and f"({name})" in tested)]
check(not missing and len(public) > 30, f"entry points whose errno is not tested: {missing} of {len(public)}")
recording.done()
