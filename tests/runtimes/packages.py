# SPDX-License-Identifier: BSD-2-Clause
# Memory that native modules of packages allocate for the lines of a script. With "tell" it prints the live bytes of
# each line by tracemalloc, which knows the blocks of numpy, too.
import os
import sys
import tracemalloc

import numpy


class Order:
    def __init__(self, number):
        self.tags = [number] * 100
        self.note = "n" * (3000 + number)


def zeros():
    return numpy.zeros((1000, 100))


def arithmetic():
    whole = numpy.arange(50000, dtype=numpy.int64)
    half = whole * 2.5
    return whole, half


def turned(table):
    return numpy.ascontiguousarray(table.reshape(100, 500).T)


def keys():
    table = {}
    for number in range(5000):
        table[f"key-{number:040}"] = number
    return table


def chunks():
    return [bytearray(4096) for _ in range(100)]


def main():
    whole, half = arithmetic()
    orders = [Order(number) for number in range(100)]
    return orders, zeros(), whole, half, turned(whole), keys(), chunks(), numpy.cumsum(half), half[half > 70000.0]


tell = sys.argv[1:] == ["tell"]
if tell:
    tracemalloc.start()
kept = main()
lines = {}
for trace in tracemalloc.take_snapshot().traces if tell else ():
    frame = trace.traceback[0]
    if frame.filename.endswith("packages.py"):
        lines[frame.lineno] = lines.get(frame.lineno, 0) + trace.size
for line, size in sorted(lines.items()):
    print(line, size)
sys.stdout.flush()
os._exit(0)
