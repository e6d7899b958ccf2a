# SPDX-License-Identifier: BSD-2-Clause
# Allocates what goes through Python's allocators, on known lines. With an argument, writes what
# tracemalloc says is live, as "LINE BLOCKS BYTES" of this file. Blocks whose size is a multiple of 8
# are left out: Python keeps some of them, such as tuples, in lists of free objects, and tracemalloc
# moves such an object to the line that uses it again.
import collections
import os
import sys
import tracemalloc

kept = []


class Slots:
    __slots__ = ("text",)

    def __init__(self, i):
        self.text = "text %d" % (1000 + i)


def texts(count):
    for i in range(count):
        kept.append(str(i) * 7)


def large():
    kept.append(bytearray(100000))
    kept.append(b"x" * 70000)


def grown():
    growing = bytearray()
    for i in range(500):
        growing += b"0123456789"
    kept.append(growing)


def numbers():
    kept.extend([10 ** (20 + i) for i in range(300)])


def deep(level, work):
    return work() if level == 0 else deep(level - 1, work)


def stream(count):
    for i in range(count):
        yield bytes(200 + i)


def main():
    texts(700)
    large()
    deep(30, grown)
    numbers()
    kept.extend(Slots(i) for i in range(200))
    for chunk in stream(90):
        kept.append(chunk)
    kept.append(sorted(range(60), key=lambda n: kept.append(bytearray(3000 + n)) or -n))
    kept.append("".join(str(i) for i in range(5000)))


kept.extend(range(10000, 13000))
main()
if len(sys.argv) > 1:
    blocks = collections.Counter()
    sizes = collections.Counter()
    for trace in tracemalloc.take_snapshot().traces:
        frame = trace.traceback[0]
        if frame.filename == __file__ and trace.size % 8:
            blocks[frame.lineno] += 1
            sizes[frame.lineno] += trace.size
    for line in sorted(blocks):
        print(line, blocks[line], sizes[line])
sys.stdout.flush()
os._exit(0)
