# SPDX-License-Identifier: BSD-2-Clause
"""Programs that lock their memory: the recorder's own is not locked, and the program's is, as it is alone."""
import subprocess
import sys

from recording import Recording, check, check_sound, done, program

MORE = 12 << 10  # KiB
CURRENT, FUTURE, ONFAULT = 1, 2, 4


def numbers(text):
    return [[int(word) for word in line.split()] for line in text.splitlines()]


for flags in (CURRENT | FUTURE, CURRENT, FUTURE, CURRENT | FUTURE | ONFAULT):
    alone = subprocess.run([program("locked"), str(flags)], capture_output=True, text=True)
    if alone.returncode == 77:
        print("skipped: no memory can be locked here")
        sys.exit(77)
    wanted = numbers(alone.stdout)
    for options in ([], ["--sample=512K"], ["--sample=16K", "--rotate=1h"], ["--unwind=fp", "--free-stacks"]):
        what = f"flags {flags}, {options}"
        recording = Recording("locked", [program("locked"), str(flags)], run_options=options)
        run = recording.run
        check(run.returncode == 0 and run.stderr == "", f"{what}: {run}")
        check_sound(recording)
        found = numbers(run.stdout)
        check(len(found) == len(wanted), f"{what}: {found} instead of {wanted}")
        for one, other in zip(found, wanted):
            if other and len(other) == 2 and other[0] >= 0 and other != [0, -1]:
                more = [a - b for a, b in zip(one, other)]
                check(max(more) <= MORE, f"{what}: locked and resident {one} KiB, alone {other}")
            else:
                check(one == other, f"{what}: {one} instead of {other}")
done()
