# SPDX-License-Identifier: BSD-2-Clause
"""mprof-run whose calls fail, one after another: the program runs as it does alone and is recorded, or mprof-run says in a
line why not, and leaves nothing. The calls of the program that it starts do not fail. MPROF_SOAK=1 tries more calls."""
import os
import subprocess
import time

import recording
from recording import BUILD, check, done, folder, program

FOLDER = folder("run-faults")
TRACE = FOLDER + "/trace.bin"
PROGRAM = ["sh", "-c", "echo begins; ls /; true"]
MOST = 400 if os.environ.get("MPROF_SOAK") == "1" else 35
alone = subprocess.run(PROGRAM, capture_output=True, text=True, cwd=FOLDER).stdout


def run(call, at, *arguments, on=False):
    """Lets mprof-run's call number `at` fail, and with `on` all later ones."""
    subprocess.run(["rm", "-rf", TRACE, TRACE + ".d"], check=True)
    environment = {**os.environ, "LD_PRELOAD": program("failing.so"), "FAIL_CALL": call, "FAIL_AT": str(at)}
    if on:
        environment["FAIL_ON"] = "1"
    return subprocess.run([BUILD + "/bin/mprof-run", "-o", TRACE, *arguments], capture_output=True, text=True,
                          env=environment, cwd=FOLDER, timeout=60)


refused = 0
for call, most, on in (("malloc", MOST, False), ("malloc", MOST // 5, True), ("mmap", 3, False), ("fork", 3, False),
                       ("open", 4, False), ("write", 3, False)):
    for at in range(1, most + 1):
        one = run(call, at, *PROGRAM, on=on)
        what = f"{call} {at}{' and later' if on else ''}: {one}"
        if one.returncode == 0:
            check(one.stdout == alone and os.path.exists(TRACE) and one.stderr.startswith("mprof-run: "), what)
        else:
            refused += 1
            check(one.returncode in (1, 126) and one.stdout == "" and not os.path.exists(TRACE), what)
            check(one.stderr.startswith("mprof-run: ") and "neither in" not in one.stderr, what)
check(refused > 10, f"{refused} of the calls end a run: the calls do fail")

# A process that runs is left alone, and the reason names the memory.
for at in range(1, 13):
    with subprocess.Popen(["sleep", "1000"]) as target:
        time.sleep(0.05)
        one = run("malloc", at, "--pid", str(target.pid), "--duration", "0.01")
        what = f"attach, malloc {at}: {one}"
        check(one.returncode in (0, 1) and one.stderr.startswith("mprof-run: "), what)
        check(one.returncode == 0 or "memory" in one.stderr, what)
        check(target.poll() is None, what)
        target.kill()

done()
