# SPDX-License-Identifier: BSD-2-Clause
"""A tour of the browser by 100 keys at 200x60: times, bytes to the terminal, cost of doing nothing.

"busy" is the processor time that the thread which reads keys and draws takes for a key, until it has
begun to write a frame. Unlike the other times, it does not depend on what else the machine does.

usage: tui_tour.py mprof-tui SESSION
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.environ["MPROF_SOURCE"], "tests", "tui"))
from pty_browser import ARROW_DOWN, ARROW_LEFT, ARROW_RIGHT, ARROW_UP, Browser  # noqa: E402

ENTER, ESCAPE = b"\r", b"\033"
ARROWS = (ARROW_DOWN, ARROW_UP, ARROW_LEFT, ARROW_RIGHT)
# The keys, by the view that they are pressed in.
TOUR = [
    ("overview", [b"1"] + 4 * [ARROW_DOWN] + [ARROW_UP]),
    ("timeline", [b"2"] + 5 * [ARROW_RIGHT] + 3 * [ARROW_LEFT] + 3 * [b"+"] + 2 * [b"-"]),
    ("memory", [b"3"] + 5 * [ARROW_DOWN] + 2 * [ARROW_RIGHT] + 2 * [b"+"] + 2 * [b"-"] + [b"h", b"h"]),
    ("tree", [b"4"] + 6 * [ARROW_DOWN] + [ENTER] + 2 * [ARROW_UP] + [b"F", b"F", b"s"]),
    ("functions", [b"5"] + 8 * [ARROW_DOWN] + [b"s", b"r", b"s"] + 2 * [ARROW_UP]),
    ("types", [b"6"] + 6 * [ARROW_DOWN] + [b"s"]),
    ("leaks", [b"7"] + 7 * [ARROW_DOWN]),
    ("allocations", [b"8"] + 5 * [ARROW_DOWN] + [b"s", ENTER, ESCAPE]),
    ("sizes", [b"9"] + 7 * [ARROW_DOWN]),
    ("menus", [b"c", ESCAPE, b"w", ESCAPE, b"?", ESCAPE]),
]
FIRST_S, QUIET_S, IDLE_S = 0.25, 0.5, 5


def ranked(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0


def main():
    browser = Browser(sys.argv[1:])
    data, began = browser.read(120), time.monotonic()
    busy = browser.input_seconds()
    more, _, ended = browser.settle(3.0, 3.0)
    print("first paint %.0f ms, busy %.1f ms, complete after %.0f ms, %d bytes"
          % ((began - browser.began) * 1e3, busy * 1e3, (ended - browser.began) * 1e3, len(data + more)))
    print("%-12s %5s %8s %8s %8s %8s %9s %10s"
          % ("view", "keys", "p50 ms", "max ms", "busy ms", "exact ms", "bytes", "most bytes"))
    answers, sizes, moves, silent, count, each = [], [], [], 0, 0, []
    for view, keys in TOUR:
        here, exact, written, busy = [], [], [], []
        for key in keys:
            before, pressed = browser.input_seconds(), time.monotonic()
            browser.write(key)
            data, began = browser.read(FIRST_S), time.monotonic()
            busy.append((browser.input_seconds() - before) * 1e3)
            more, _, ended = browser.settle(QUIET_S, QUIET_S) if data else (b"", 0, 0)
            data, ended = data + more, ended if more else began
            count += 1
            if not data:
                silent += 1
                continue
            here.append((began - pressed) * 1e3)
            exact.append((ended - pressed) * 1e3)
            written.append(len(data))
            each.append(((began - pressed) * 1e3, len(data), view, count, key, busy[-1], exact[-1]))
            if key in ARROWS:
                moves.append(len(data))
        print("%-12s %5d %8.1f %8.1f %8.1f %8.1f %9d %10d" % (
            view, len(keys), ranked(here, 0.5), max(here or [0]), max(busy), max(exact or [0]), sum(written),
            max(written or [0])))
        answers += here
        sizes += written
    print("all          %5d keys (%d changed nothing): p50 %.1f ms, p99 %.1f ms, max %.1f ms to a frame"
          % (count, silent, ranked(answers, 0.5), ranked(answers, 0.99), max(answers or [0])))
    print("bytes a key: p50 %d, most %d; a cursor move: p50 %d, most %d"
          % (ranked(sizes, 0.5), max(sizes or [0]), ranked(moves, 0.5), max(moves or [0])))
    for title, place in (("slowest", 0), ("busiest", 5), ("with most bytes", 1)):
        print("%s: %s" % (title, ", ".join("%s key %d %r %.1f ms, busy %.1f, %d bytes"
                                           % (row[2], row[3], row[4].decode(), row[0], row[5], row[1])
                                           for row in sorted(each, key=lambda row: -row[place])[:6])))
    print("latest exact: %s" % ", ".join("%s key %d %r %.0f ms" % (row[2], row[3], row[4].decode(), row[6])
                                         for row in sorted(each, key=lambda row: -row[6])[:8]))
    moved = [row for row in each if row[4] in ARROWS]
    print("moves with most bytes: %s" % ", ".join("%s key %d %d bytes" % (row[2], row[3], row[1])
                                                 for row in sorted(moved, key=lambda row: -row[1])[:4]))
    before, slept = browser.processor_seconds(), browser.switches()
    data = browser.settle(IDLE_S, 0.01)[0]
    print("idle: %.1f ms of processor time a second, %.1f wake-ups a second, %d bytes"
          % ((browser.processor_seconds() - before) / IDLE_S * 1e3, (browser.switches() - slept) / IDLE_S, len(data)))
    status = browser.end()
    if status != 0:
        sys.exit("mprof-tui ended with %d" % status)


main()
