# SPDX-License-Identifier: BSD-2-Clause
"""Programs of root that drop their rights: their children, and what those execute, are recorded, into a folder that nobody
else may write into. Nobody but processes of the run gets a file."""
import glob
import os
import re
import socket
import stat
import subprocess
import sys
import time

import recording
from recording import BUILD, Recording, check, check_sound, done, folder, program, sizes

if os.geteuid() != 0:
    print("skipped: only root drops rights")
    sys.exit(77)

drops = program("drops")


def record(*arguments, umask=0o022):
    before = os.umask(umask)
    one = Recording("rights-out", [drops, *arguments])
    os.umask(before)
    check(one.run.returncode == 0 and one.run.stderr == "", f"{arguments}: {one.run}")
    check_sound(one)
    for path in [one.path + ".d", *one.traces]:
        about = os.stat(path)
        check(about.st_mode & 0o077 == 0 and about.st_uid == 0, f"{path}: {stat.filemode(about.st_mode)}, {about.st_uid}")
    return one


for what in (["fork"], ["exec"], ["chroot", "/var"]):
    one = record(*what, umask=0)
    check([sizes(trace, 1111).get(1111, 0) for trace in one.others] == [5], f"{what}: {[sizes(trace) for trace in one.others]}")
    check(sizes(one.main, 2222) == {2222: 5}, f"{what}: {sizes(one.main, 2222)}")
one = record("daemon")
check(sorted(sum((list(sizes(trace, 1111)) for trace in one.others), [])) == [1111, 2222, 4444],
      f"daemon: {[sizes(trace, 1111) for trace in one.others]}")

late = Recording("rights-out", [drops, "daemon", "late"])
late.read()
check(late.run.returncode == 0 and late.run.stderr.count("\n") == 1 and
      "error 13, not allowed, and mprof-run, which would have made it, has ended; nothing is recorded" in late.run.stderr, f"late: {late.run}")
check([sizes(trace, 1111) for trace in late.others] == [{2222: 5, 4444: 5}], f"late: {[sizes(trace, 1111) for trace in late.others]}")

# The socket answers nobody else, and holds nobody up.
with subprocess.Popen([BUILD + "/bin/mprof-run", "--quiet", "-o", folder("rights-out") + "/trace.bin", "sleep", "1"]) as run:
    time.sleep(0.5)
    links = [os.readlink(path) for path in glob.glob(f"/proc/{run.pid}/fd/*")]
    own = [re.search(r" (\d+) @(mprof-run\.\w{16})$", line) for line in open("/proc/net/unix").read().splitlines()]
    own = [found[2] for found in own if found and f"socket:[{found[1]}]" in links]
    check(len(own) == 1, f"the run listens: {own}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        other.settimeout(10)
        other.connect("\0" + own[0])
        check(other.recv(100) == b"", "a stranger gets nothing")
    check(run.wait() == 0 and not glob.glob("rights-out/trace.bin.d/*"), "the run ends as ever")

done()
