# SPDX-License-Identifier: BSD-2-Clause
"""Random bytes, in bursts, as from a line that garbles them: the browser lives, and hears its end.

usage: random_input.py mprof-tui SESSION VIEW SEED...
"""
import fcntl
import random
import signal
import struct
import sys
import termios

from pty_browser import Browser

BURSTS = 100
KEYS = [
    *(bytes([byte]) for byte in range(256) if byte not in b"\x03\x1a\x1cqQ\x04"),
    b"\x1b[A", b"\x1b[B", b"\x1bOP", b"\x1b[<0;5;5M", b"\x1b[<64;5;5M", b"\x1b[<0;999999999;9999999M",
    b"\xc4\x1b[<0;5;5M", b"\x1b[M !!", b"\x1b[200~paste\n\x1b[201~", b"\x1b]52;c;", b":", b"/", b"\r", b"\t", b"\x1b",
]


def lives(seed):
    chance = random.Random(seed)
    browser = Browser([sys.argv[1], "--view", sys.argv[3], sys.argv[2]], chance.choice([80, 20, 200, 3]),
                      chance.choice([24, 5, 60, 1]), {"LC_ALL": chance.choice(["C", "C.UTF-8"])})
    browser.settle(30, 0.3)
    for _ in range(BURSTS):
        keys = b"".join(chance.choice(KEYS) for _ in range(chance.randint(1, 40)))
        if chance.random() < 0.02:
            size = struct.pack("HHHH", chance.randint(1, 80), chance.randint(1, 250), 0, 0)
            fcntl.ioctl(browser.terminal, termios.TIOCSWINSZ, size)
        browser.write(keys)
        while browser.read(0.002):
            pass
    # The rest of a broken report does not come. No key but Ctrl-C ends the browser here.
    browser.settle(2, 1)
    status = browser.end(b"\x03")
    if status != -signal.SIGINT:
        print(f"seed {seed}, {sys.argv[3]}: it ended with {status}")
    return status == -signal.SIGINT


sys.exit(not all([lives(int(seed)) for seed in sys.argv[4:]]))
