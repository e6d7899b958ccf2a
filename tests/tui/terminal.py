# SPDX-License-Identifier: BSD-2-Clause
"""The browser on a terminal of 200x60: bytes of a cursor move, idleness, the mouse, split sequences.

usage: terminal.py mprof-tui SESSION
"""
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from pty_browser import ARROW_DOWN, ARROW_LEFT, ARROW_RIGHT, ARROW_UP, Browser

MOVE_MOST = 4096
CTRL_L = b"\x0c"
failed = False


def check(good, what):
    global failed
    if not good:
        print("wrong: " + what)
        failed = True


def start(view, **environment):
    browser = Browser([sys.argv[1], "--view", view, sys.argv[2]], environment=environment)
    browser.settle(30, 0.5)
    return browser


def press(browser, keys):
    """Presses keys and waits until they are shown."""
    browser.write(keys)
    return browser.settle(2, 0.3)[0]


def fade_hint(browser):
    """Presses keys until the hint of the first run is gone."""
    for key in (ARROW_DOWN, ARROW_UP) * 10:
        press(browser, key)


def whole(browser):
    """Returns the whole screen as the browser writes it."""
    return press(browser, CTRL_L)


VIEWS = {
    "overview": (ARROW_DOWN, ARROW_DOWN, ARROW_UP),
    "timeline": (ARROW_RIGHT, ARROW_LEFT, ARROW_LEFT),
    "memory": (ARROW_DOWN, ARROW_RIGHT, ARROW_UP),
    "tree": (ARROW_DOWN, ARROW_DOWN, ARROW_UP),
    "functions": (ARROW_DOWN, ARROW_DOWN, ARROW_UP),
    "types": (ARROW_DOWN, ARROW_DOWN, ARROW_UP),
    "allocations": (ARROW_DOWN, ARROW_DOWN, ARROW_UP),
}


def moves(view):
    browser = start(view)
    sizes = [len(press(browser, key)) for key in VIEWS[view]]
    print("%s: %s bytes" % (view, sizes))
    check(max(sizes) <= MOVE_MOST, "a cursor move in %s writes %d bytes" % (view, max(sizes)))
    check(max(sizes) > 0, "no cursor moves in " + view)
    switches = browser.switches()
    data = browser.settle(1.0, 0.01)[0]
    check(data == b"", "%s writes %d bytes although no key was pressed" % (view, len(data)))
    # One for the step from settling to idleness; a clock that ticks would be many.
    switches = browser.switches() - switches
    check(switches <= 3, "%s wakes up %d times in a second without a key" % (view, switches))
    check(browser.end() == 0, view + " does not end")


def split_sequences():
    browser = start("functions", ESCDELAY="5000")
    fade_hint(browser)
    press(browser, ARROW_DOWN)
    press(browser, ARROW_DOWN)
    expected = whole(browser)
    press(browser, ARROW_UP)
    check(whole(browser) != expected, "an arrow does not move")
    browser.write(ARROW_DOWN[:1])
    time.sleep(0.3)
    browser.write(ARROW_DOWN[1:2])
    time.sleep(0.1)
    press(browser, ARROW_DOWN[2:])
    check(whole(browser) == expected, "an arrow that comes in parts is another key")
    check(browser.end() == 0, "no end after split arrows")


def other_sequences():
    """Keys as terminals send them that are not quite what TERM says, and keys that nobody knows."""
    browser = start("functions")
    fade_hint(browser)
    first = whole(browser)
    for end, home in ((b"\033[4~", b"\033[1~"), (b"\033[F", b"\033[H"), (b"\033[8~", b"\033[7~"),
                      (b"\033OF", b"\033OH")):
        press(browser, end)
        check(whole(browser) != first, "%r is not End" % end)
        press(browser, home)
        check(whole(browser) == first, "%r is not Home" % home)
    for unknown in (b"\033[99;5u", b"\033[4;31~", b"\033[?62;4c", b"\033[200~"):
        press(browser, unknown)
        press(browser, ARROW_DOWN)
        press(browser, ARROW_UP)
        check(whole(browser) == first, "%r does something" % unknown)
    check(browser.end() == 0, "no end after unknown keys")


def mouse():
    browser = Browser([sys.argv[1], "--view", "timeline", sys.argv[2]])
    data = browser.settle(30, 0.5)[0]
    for mode in (b"\033[?1000h", b"\033[?1002h", b"\033[?1006h"):
        check(mode in data, "the terminal is not asked for %r" % mode)
    # A drag over the curve chooses a range. Its last report comes in two parts.
    press(browser, b"\033[<0;40;20M")
    press(browser, b"\033[<32;60;20M")
    press(browser, b"\033[<32;80;21M")
    browser.write(b"\033[<0;80")
    time.sleep(0.2)
    press(browser, b";21m")
    check(b"freed" in whole(browser), "a drag in the timeline chooses no range")
    check(browser.end() == 0, "no end after a drag")
    # A double click goes deeper, one click does not.
    browser = start("allocations")
    press(browser, b"\033[<0;10;12M\033[<0;10;12m")
    once = whole(browser)
    time.sleep(0.5)
    press(browser, b"\033[<0;10;12M\033[<0;10;12m")
    check(whole(browser) == once, "two clicks that are not one double click go deeper")
    time.sleep(0.5)
    press(browser, b"\033[<0;10;12M\033[<0;10;12m\033[<0;10;12M\033[<0;10;12m")
    twice = whole(browser)
    check(twice != once, "a double click does not go deeper")
    # The older form of reports: the wheel, button 64 + 1.
    before = whole(browser)
    press(browser, b"\033[M" + bytes([32 + 65, 32 + 10, 32 + 8]))
    check(whole(browser) != before, "the wheel does nothing in the older form")
    browser.write(b"q")
    data = browser.settle(5, 0.5)[0]
    check(b"\033[?1002l" in data, "the terminal still reports the mouse after the end")
    check(browser.end(b"") == 0, "no end after a double click")


# They wait most of the time.
with ThreadPoolExecutor(3) as pool:
    tests = [pool.submit(mouse), pool.submit(split_sequences), pool.submit(other_sequences)] + [pool.submit(moves, view) for view in VIEWS]
for test in tests:
    test.result()
sys.exit(failed)
