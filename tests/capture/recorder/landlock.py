# SPDX-License-Identifier: BSD-2-Clause
"""Programs that give up the right to write files, by landlock. The trace is open already and grows. A
process that comes later cannot make a trace, says so in one line and goes on. If root records, mprof-run makes it."""
import os
import subprocess
import sys

import recording
from recording import Recording, check, check_sound, sizes

confined = recording.program("confined")
if subprocess.run([confined, "landlock"], capture_output=True).returncode == 77:
    print("no landlock in this kernel: not tried")
    sys.exit(77)

for way, state, expected in (("landlock", "ended", {320: 1000, 500: 20000}), ("executed", "exec", {})):
    one = Recording("landlock-out", [confined, way])
    check((one.run.returncode, one.run.stdout) == (0, "done\n"), f"{way}: {one.run}")
    lines = one.run.stderr.splitlines()
    root = os.geteuid() == 0
    check(lines == [] if root else len(lines) == 1 and "cannot create" in lines[0] and "error 13" in lines[0], f"{way}: said {lines}")
    check_sound(one)
    check(len(one.others) == root and sizes(one.main, 300) == expected, f"{way}: {one.others} {sizes(one.main, 300)}")
    check(one.main.header["state"] == state, f"{way}: {one.main.header}")
recording.done()
