# SPDX-License-Identifier: BSD-2-Clause
"""What runs inside the program calls nothing that the program can replace: no library has a name to
bind that is not listed here with its reason, and none calls the functions of a program that replaces
them, linked or preloaded in front."""
import os
import re
import sqlite3
import subprocess

import recording as recorder
from recording import Recording, check, done, program

BUILD = recorder.BUILD
LIBRARY = BUILD + "/lib/lib%s.so"
DATA = {
    "environ": "data: the environment of the program, which its executed programs get",
    "__environ": "the same", "_environ": "the same",
    "__libc_stack_end": "data of the loader; the value is looked at before it is used",
}
HEAP = "the call is the program's own, by the heap that the program has"
LIBRARIES = {
    "mprof": {"__lsan_default_suppressions": "the program is asked for its suppressions; in a child process"},
    "mprof_operators": {"malloc": HEAP, "free": HEAP, "posix_memalign": HEAP},
    "mprof_sized": {"free": HEAP, "_ZdlPv": HEAP, "_ZdaPv": HEAP, "_ZdlPvSt11align_val_t": HEAP,
                    "_ZdaPvSt11align_val_t": HEAP, "mprof_sized_delete": "the recorder"},
    "mprof_python": {"mprof_api_1": "the recorder"},
    "mprof_ecl": {"mprof_api_1": "the recorder"},
}
LINKER = "made by the linker"
OWN = "belongs to the C library, which calls it by this name"
ARCHIVE = {
    "_GLOBAL_OFFSET_TABLE_": LINKER, "__ehdr_start": LINKER, "_end": LINKER, "__dso_handle": "of the startup files",
    "__errno_location": OWN, "__cxa_at_quick_exit": OWN, "__register_atfork": OWN, "__pthread_key_create": OWN,
    "__sigaction": OWN, "_dl_find_object": OWN,
    "pthread_setspecific": "the shared C library has no other name for it, and the archive may be linked with it",
    "malloc_usable_size": "of the program's heap",
    "__lsan_default_suppressions": LIBRARIES["mprof"]["__lsan_default_suppressions"],
}


def output(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


for name, reasons in LIBRARIES.items():
    if not os.path.exists(LIBRARY % name):
        print(f"{name}: not built")
        continue
    undefined = re.findall(r"^\s+[UvVwW] ([^\s@]+)", output("nm", "-D", "--undefined-only", LIBRARY % name), re.M)
    # A name that the library defines itself is bound to the program's as well, if it has one.
    relocated = re.findall(r" R_X86_64_\w+ +[0-9a-f]+ +([A-Za-z_][^\s@]*)", output("readelf", "-rW", LIBRARY % name))
    check(undefined and relocated, f"{name}: no symbols at all")
    for symbol in sorted(set(undefined + relocated) - DATA.keys() - reasons.keys()):
        check(False, f"{name} imports {symbol}")
archive = re.findall(r"^\s+[UvVwW] (\S+)", output("nm", "-u", BUILD + "/lib/libmprof.a"), re.M)
check("__real_malloc" in archive, "libmprof.a: no symbols at all")
for symbol in sorted(set(archive) - DATA.keys() - ARCHIVE.keys()):
    check(symbol.startswith("__real_"), f"libmprof.a needs {symbol}")

# The same allocations and the same output, alone and recorded; and a duration that is that of the run.
library = program("libreplaced.so")
for what, arguments, options, environment in (
        ("linked", [program("replaced")], [], {}),
        ("the other clock", [program("replaced")], [], {"MPROF_TEST_CLOCK": "ns"}),
        ("preloaded in front", [program("steps")], ["--mmap"], {"LD_PRELOAD": library}),
        ("sampled", [program("steps")], ["--sample=4K"], {"LD_PRELOAD": library}),
        ("Python", ["/usr/bin/python3", "-Ic", "print([str(i) for i in range(99)])"], ["--python"], {"LD_PRELOAD": library})):
    alone = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, **environment}, input="12k")
    recording = Recording("imports", arguments, environment, options, input="12k")
    run = recording.run
    check((run.returncode, run.stdout, run.stderr) == (alone.returncode, alone.stdout, alone.stderr),
          f"{what}: {alone} became {run}")
    session = recording.folder + "/session.db"
    output(BUILD + "/bin/mprof-ingest", "--quiet", "-o", session, recording.path)
    seconds, = sqlite3.connect(session).execute("SELECT value / 1e9 FROM meta WHERE key = 'duration_ns'").fetchone()
    check(seconds < 900, f"{what}: the program ran for {seconds} s")
done()
