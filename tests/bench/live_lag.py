# SPDX-License-Identifier: BSD-2-Clause
"""How far a live session and the browser on it are behind their program.

usage: live_lag.py THREADS EVENTS_A_SECOND SECONDS STEADY_EVENTS

Runs the program by mprof-run --open --live in a terminal of tmux. Every 50 ms it reads how many
allocations the program has made, how many the session has, and how many the browser shows. The lag is
the time since the program had made as many as are shown.
"""
import bisect
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

threads, rate, seconds, program = sys.argv[1:5]
binaries = os.path.join(os.environ["MPROF_BUILD"], "bin")


class Lags:
    def __init__(self):
        self.values = []

    def line(self, name):
        values = sorted(self.values[len(self.values) // 10:]) or [0]
        return "| %s | %.2f | %.2f | %.2f |" % (
            name, values[len(values) // 2], values[min(len(values) - 1, int(len(values) * 0.99))], values[-1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        socket = "mprof-live-%d" % os.getpid()
        tmux = ["tmux", "-L", socket, "-f", "/dev/null"]
        environment = dict(os.environ, PATH=binaries + ":" + os.environ["PATH"], TERM="xterm-256color",
                           LC_ALL="C.UTF-8", HOME=folder, XDG_STATE_HOME=folder)
        for name in ("TMUX", "NO_COLOR"):
            environment.pop(name, None)
        counter = os.path.join(folder, "count")
        subprocess.run(tmux + ["new-session", "-d", "-x", "200", "-y", "60", "-c", folder,
                               "mprof-run --open --live -o live.bin -- %s %s %s %s %s; sleep 1000"
                               % (program, threads, rate, seconds, counter)], env=environment, check=True)
        try:
            measure(folder, tmux, counter)
        finally:
            subprocess.run(tmux + ["kill-server"], env=environment)


def measure(folder, tmux, counter):
    times, made = [], []
    session, browser = Lags(), Lags()
    skipped, screen, end = 0, "", time.monotonic() + float(seconds) + 60
    began = ended = None
    while time.monotonic() < end:
        time.sleep(0.05)
        try:
            with open(counter, "rb") as file:
                count = struct.unpack("Q", file.read(8))[0]
        except (OSError, struct.error):
            continue
        now = time.monotonic()
        began = began or now
        if not made or count > made[-1]:
            times.append(now)
            made.append(count)
        elif now - times[-1] > 1 and not ended:
            ended = times[-1]

        def lag(shown):
            place = bisect.bisect_left(made, shown)
            return now - times[min(place, len(times) - 1)] if place > 0 else now - began

        screen = subprocess.run(tmux + ["capture-pane", "-p"], capture_output=True, text=True).stdout
        if not ended:
            try:
                database = sqlite3.connect("file:%s/live.db?mode=ro" % folder, uri=True)
                meta = dict(database.execute(
                    "SELECT key, value FROM meta WHERE key IN ('allocations', 'skipped_allocations')"))
                database.close()
                session.values.append(lag(int(meta["allocations"])))
                skipped = int(meta.get("skipped_allocations", 0))
            except (sqlite3.Error, KeyError):
                pass
            shown = re.search(r"([0-9,]+) allocations \S* ", screen.split("\n")[0])
            if shown and "recording" in screen:
                browser.values.append(lag(int(shown[1].replace(",", ""))))
        elif "recording" not in screen and "loading" not in screen:
            break
    print("%.2f M events a second for %.1f s by %s threads; %d of %d allocations without details"
          % (made[-1] * 2 / (times[-1] - times[0]) / 1e6, times[-1] - times[0], threads, skipped, made[-1]))
    print("| seconds behind | median | 99 % | most |\n|---|---|---|---|")
    print(session.line("session") + "\n" + browser.line("browser"))
    print("the browser showed the end %.1f s after it" % (time.monotonic() - (ended or end)))
    if not browser.values:
        print(screen)


main()
