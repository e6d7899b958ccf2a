# SPDX-License-Identifier: BSD-2-Clause
"""Allocations before any constructor has run: in the resolvers of indirect functions and in
.preinit_array. The program's own are recorded. Those of a library that the loader relocates before the
recorder work, are counted as dropped, and one line says so."""
import subprocess

from recording import Recording, check, done, program, sizes

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
done()
