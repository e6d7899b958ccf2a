# SPDX-License-Identifier: BSD-2-Clause
"""symbols.py SYMBOLIZE BINARY: symbolizes 50,000 random addresses of code of a large binary and
prints time and memory; then the same by llvm-addr2line, if it is there."""

import os
import random
import re
import shutil
import subprocess
import sys

ADDRESSES = 50_000


def code_range(binary):
    text = subprocess.run(["readelf", "-S", "-W", binary], capture_output=True, text=True, check=True).stdout
    match = re.search(r" \.text +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", text)
    return int(match[1], 16), int(match[2], 16)


def measure(name, command, asked):
    """Runs the command by itself, so that its memory and processor time are its own."""
    with open("answers.txt", "w+b") as answers, open("asked.txt", "wb") as file:
        file.write(asked)
        file.close()
        with open("asked.txt", "rb") as source:
            process = subprocess.Popen(command, stdin=source, stdout=answers, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        answers.seek(0)
        lines = answers.read().count(b"\n")
    if status != 0:
        sys.exit(f"{name} failed")
    print(f"  {name:16} {usage.ru_utime + usage.ru_stime:8.2f} s   peak {usage.ru_maxrss // 1024:6} MiB"
          f"   {(lines - ADDRESSES) // 2:8} frames")


def main():
    symbolize, binary = sys.argv[1], os.path.realpath(sys.argv[2])
    start, size = code_range(binary)
    generator = random.Random(1988)
    asked = "".join(f"{start + at:#x}\n" for at in generator.sample(range(size), ADDRESSES)).encode()
    print(f"symbols of {ADDRESSES:,} distinct addresses, a binary of {os.path.getsize(binary) / 1e6:.0f} MB"
          " (processor time)")
    measure("mprof", [symbolize, binary], asked)
    if shutil.which("llvm-addr2line"):
        measure("llvm-addr2line", ["llvm-addr2line", "-a", "-i", "-f", "-C", "-e", binary], asked)


main()
