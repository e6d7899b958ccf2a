# SPDX-License-Identifier: BSD-2-Clause
"""damage.py SYMBOLIZE PROGRAM [COUNT [SEED]]: makes damaged copies of a program with debug
information. Each must give an answer for every address, without a crash and without an endless loop."""

import os
import random
import re
import subprocess
import sys
import tempfile

symbolize, program = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1988


def sections(text):
    """Returns (name, offset, size) of each section that the symbolizer reads."""
    for line in text.splitlines():
        match = re.match(r"\s*\[ *\d+\] (\.\S+) +\S+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", line)
        if match and re.match(r"\.debug|\..*sym$|\..*str.*tab|\.eh_frame|\.rela|\.plt", match[1]):
            if int(match[3], 16) > 0:
                yield match[1], int(match[2], 16), int(match[3], 16)


def damage(whole, places, generator):
    data = bytearray(whole)
    way = generator.choice(["cut", "headers", "any section", "debug", "debug"])
    if way == "cut":
        return data[:generator.randrange(len(data))]
    for _ in range(generator.choice([1, 3, 20, 300])):
        if way == "headers":
            start, size = generator.choice([(0, 64), (len(data) - 64 * 40, 64 * 40)])
        else:
            name, start, size = generator.choice(places)
            while way == "debug" and not name.startswith(".debug"):
                name, start, size = generator.choice(places)
        at = start + generator.randrange(size)
        data[at] = generator.choice([0, 255, data[at] ^ (1 << generator.randrange(8)),
                                     generator.randrange(256)])
    return data


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    with open(program, "rb") as file:
        whole = file.read()
    places = list(sections(run("readelf", "-S", "-W", program)))
    assert any(name == ".debug_info" for name, _, _ in places)
    starts = [int(line.split()[0], 16) for line in run("nm", program).splitlines()
              if re.match(r"[0-9a-f]+ [tTwW] ", line)]
    asked = "".join(f"{start + offset:x}\n" for start in starts for offset in (0, 7, 30))
    bad = 0
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "damaged")
        for number in range(seed, seed + count):
            with open(path, "wb") as file:
                file.write(damage(whole, places, random.Random(number)))
            try:
                done = subprocess.run([symbolize, path], input=asked.encode(), timeout=600,
                                      capture_output=True, check=False)
                answered = done.stdout.count(b"\n0x") + 1
                if done.returncode == 0 and answered == 3 * len(starts):
                    continue
                print(f"seed {number}: status {done.returncode}, {answered} answers",
                      done.stderr.decode(errors="replace")[-300:])
            except subprocess.TimeoutExpired:
                print(f"seed {number}: still running after a minute")
            bad += 1
    print(f"{count} damaged files, {bad} failed")
    return 1 if bad else 0


sys.exit(main())
