# SPDX-License-Identifier: BSD-2-Clause
"""Other allocators beside the recorder: preloaded before and after it, linked to the program, and linked
with the recorder in both orders. The program always works. It is recorded whenever the recorder comes
first, and so are the C++ operators of such libraries. Otherwise one line says so."""
import os
import re
import subprocess
import sys

import recording
from recording import Recording, check, check_sound, sizes
from trace_text import Trace

build, source = recording.BUILD, os.environ["MPROF_SOURCE"]
library = build + "/lib/libmprof.so"
place = "/usr/lib/x86_64-linux-gnu/"
allocators = ["libtcmalloc_minimal.so.4", "libjemalloc.so.2", "libmimalloc.so.2"]
missing = [name for name in allocators if not os.path.exists(place + name)]
folder = recording.folder("allocator-programs")
ROUNDS = 1500


def build_program(name, file, *libraries, options=()):
    path = f"{folder}/{name}"
    made = subprocess.run(["cc" if file.endswith(".c") else "c++", "-O1", "-fno-builtin", "-pthread", "-o", path,
                           f"{source}/tests/programs/{file}", *options, "-Wl,--no-as-needed", *libraries,
                           f"-Wl,-rpath,{build}/lib:{folder}"], capture_output=True, text=True)
    check(made.returncode == 0, f"{name} is not built: {made.stderr}")
    return path


def check_recorded(what, trace):
    count = sizes(trace, 7000)
    check(all(count.get(7000 + i) == 9 for i in (100, 300)), f"{what}: blocks of 7100 bytes: {count.get(7100)}")
    check(count.get(7040) == ROUNDS + 9, f"{what}: blocks of 7040 bytes: {count.get(7040)}")
    check(count.get(2 * 7111) == 6, f"{what}: blocks of 14222 bytes: {count.get(2 * 7111)}")


def check_refused(what, run, path):
    lines = run.stderr.splitlines()
    check(run.returncode == 0 and run.stdout == f"{ROUNDS}\n", f"{what}: {run}")
    check(len(lines) == 1 and "which comes before the recorder's: nothing is recorded" in lines[0],
          f"{what}: said {run.stderr!r}")
    check(not os.path.exists(path), f"{what}: a trace")


own_library = build_program("libown.so", "own_operators.cpp", options=["-DLIBRARY", "-shared", "-fPIC"])
operators = build + "/lib/libmprof_operators.so"
needs = subprocess.run(["readelf", "-d", operators], capture_output=True, text=True, check=True).stdout
check(re.findall(r"NEEDED.*\[(.*)\]", needs) == ["libc.so.6"], f"the operators need more than libc: {needs}")
defined = subprocess.run(["nm", "-D", "--defined-only", operators], capture_output=True, text=True, check=True).stdout.split()[2::3]
check(len(defined) == 20 and all(re.match("_Z(nw|na|dl|da)", name) for name in defined), f"the operators: {defined}")
plain, cxx = build_program("plain", "other_allocator.c"), build_program("cxx", "other_allocator.cpp")
for name in allocators:
    if name in missing:
        print(f"{name}: not installed")
        continue
    path = place + name
    for what, arguments, environment in (
            ("preloaded", [plain], {"LD_PRELOAD": path}), ("linked", [build_program("linked", "other_allocator.c", path)], None)):
        one = Recording("allocators-out", arguments, environment=environment)
        check(one.run.returncode == 0 and one.run.stdout == f"{ROUNDS}\n" and one.run.stderr == "", f"{name} {what}: {one.run}")
        check_sound(one)
        check_recorded(f"{name} {what}", one.main)
    trace = folder + "/order.bin"
    own = {**os.environ, "MPROF_OUTPUT": trace}
    for first, libraries in ((True, [library, path]), (False, [path, library])):
        both = build_program("both", "other_allocator.c", *libraries)
        for what, program, environment in (
                ("linked", both, own), ("preloaded", plain, {**own, "LD_PRELOAD": " ".join(libraries)})):
            what = f"{name} and the recorder {what}, {'the recorder' if first else name} first"
            if os.path.exists(trace):
                os.unlink(trace)
            run = subprocess.run([program], env=environment, capture_output=True, text=True)
            if first:
                check(run.returncode == 0 and run.stderr == "", f"{what}: {run}")
                check_recorded(what, Trace(trace))
            else:
                check_refused(what, run, trace)
    for what, arguments, environment in (
            ("preloaded", [cxx], {"LD_PRELOAD": path}), ("linked", [build_program("cxx-linked", "other_allocator.cpp", path)], None)):
        one = Recording("allocators-out", arguments, environment=environment)
        check(one.run.returncode == 0 and one.run.stdout == "1000\n" and one.run.stderr == "", f"{name} {what} in C++: {one.run}")
        check_sound(one)
        count = sizes(one.main)
        check(count.get(5000) == 1 and sum(count.get(101 + i, 0) for i in range(10)) == 1000 and count.get(4000) == 1,
              f"{name} {what} in C++: {count}")
    # Without mprof-run nothing else is preloaded beside the recorder, which says what it does not see.
    run = subprocess.run([cxx], env={**own, "LD_PRELOAD": f"{library} {path}"}, capture_output=True, text=True)
    check(run.returncode == 0 and len(run.stderr.splitlines()) == 1 and f"{name} has its own operator new" in run.stderr,
          f"{name} preloaded by hand, in C++: {run}")
    # The program's own operators, and those of its library, are called as without the recorder.
    for what, options in (("program", []), ("library", ["-DPROGRAM", own_library])):
        program = build_program("own-operators", "own_operators.cpp", path, options=options)
        one = Recording("allocators-out", [program])
        check(one.run.returncode == 0 and one.run.stdout == "100\n" and one.run.stderr == "", f"{name}, operators of the {what}: {one.run}")
        check_sound(one)
        count = sizes(one.main)
        check(count.get(7777) == 1 and not any(1000 <= size <= 1200 for size in count), f"{name}, operators of the {what}: {count}")
usual = Recording("allocators-out", [cxx])
check(usual.run.stderr == "" and sum(sizes(usual.main).values()) > 2000, f"C++ without them: {usual.run}")
if missing and not recording.wrong:
    sys.exit(77)
recording.done()
