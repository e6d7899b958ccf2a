# SPDX-License-Identifier: BSD-2-Clause
"""Allocations before any constructor has run: in the resolvers of indirect functions and in
.preinit_array. The program's own are recorded. Those of a library that the loader relocates before the
recorder work, are counted as dropped, and one line says so."""
import os
import subprocess

from recording import Recording, check, done, folder, program, sizes

alone = subprocess.run([program("resolved")], capture_output=True, text=True)
check((alone.returncode, alone.stdout) == (0, "1 7 0\n"), f"alone: {alone}")
for options in ([], ["--sample=1"], ["--mmap"]):
    recording = Recording("resolvers", [program("resolved")], run_options=options)
    run, trace = recording.run, recording.main
    check((run.returncode, run.stdout) == (0, "1 7 0\n"), f"{options}: {run}")
    check(run.stderr.count("\n") == 1 and "mprof: 4 calls of the heap are not recorded" in run.stderr, f"{options}: said {run.stderr!r}")
    check(trace is not None, f"{options}: no trace")
    if not trace:
        continue
    faults = [line for line in trace.complain() + trace.overlaps(unknown_frees=True) if "events dropped" not in line]
    check(not faults, f"{options}: {faults}")
    check(sizes(trace, 1000) == {1234: 1, 2345: 1, 5000: 1000, 4000: 1, 4096: 1}, f"{options}: {sizes(trace, 1000)}")
    check(trace.header["dropped"] == "4", f"{options}: dropped {trace.header['dropped']}")
    check(len(trace.threads) == 1, f"{options}: threads {list(trace.threads)}")

# C++'s operators, by the libraries that are preloaded for them: with another allocator, and with --sized-delete.
SOURCE, TCMALLOC = os.environ["MPROF_SOURCE"], "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"
place = folder("resolvers-new-programs")


def build(name, *options):
    subprocess.run(["c++", "-std=c++17", "-O1", "-fno-builtin", "-o", f"{place}/{name}", f"{SOURCE}/tests/programs/resolved_new.cpp",
                    *options, f"-L{place}", f"-Wl,--no-as-needed,-rpath,{place}"], check=True)


build("libresolver.so", "-DRESOLVER", "-shared", "-fPIC")
build("libcaller.so", "-DCALLER", "-shared", "-fPIC", "-lresolver")
for what, libraries, options in (("tcmalloc", [TCMALLOC], []), ("sized", [], ["--sized-delete"]),
                                 ("both", [TCMALLOC], ["--sized-delete"])):
    if libraries and not os.path.exists(TCMALLOC):
        print(f"{TCMALLOC}: not installed")
        continue
    build("new", *libraries, "-lcaller", "-lresolver")
    recording = Recording("resolvers-new", [f"{place}/new"], run_options=options)
    run, trace = recording.run, recording.main
    check((run.returncode, run.stdout) == (0, "7 4\n"), f"new, {what}: {run}")
    check("mprof: 3 calls of the heap are not recorded" in run.stderr, f"new, {what}: said {run.stderr!r}")
    check(trace and sizes(trace, 5000).get(5000) == 100 and trace.header["dropped"] == "3", f"new, {what}: {trace and sizes(trace, 5000)}")
done()
