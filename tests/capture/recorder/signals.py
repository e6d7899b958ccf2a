# SPDX-License-Identifier: BSD-2-Clause
"""Signals at a high rate, and after every instruction of some calls. Every call of the program is recorded
once. Every call of the handler is recorded or counted. A handler that leaves by longjmp does not end
recording. If a handler forks inside a record, the child does not write into its parent's trace."""
import recording
import trace_text
from recording import Recording, check

for way, options in (("handler", []), ("handler", ["--clock=fast"]), ("left", []), ("step", []), ("jump", []), ("fork", []),
                     ("fork", ["--free-stacks"])):
    folder = recording.folder("signals-log")
    one = Recording("signals-out", [recording.program("signals"), folder, way], run_options=options)
    check(one.run.returncode == 0, f"{way}: {one.run.returncode} {one.run.stderr}")
    handled = int(one.run.stdout or 0)
    check(handled >= (60 if way == "fork" else 100), f"{way}: the handler ran only {handled} times")
    log = trace_text.own_logs(folder).popitem()[1][0]
    difference = trace_text.compare(log, one.main.by_tid()[log.tid].events())
    check(not difference, f"{way}: {difference}")
    check(not one.main.damage, f"{way}: {one.main.damage}")
    check(len(one.others) == (handled if way == "fork" else 0), f"{way}: {len(one.others)} other traces")
    for child in one.others:
        check(not child.complain(), f"{way}: a child: {child.complain()[:3]}")
    if way in ("handler", "left", "step"):
        counted = len(one.main.failed) + one.main.dropped
        check(counted == handled, f"{handled} calls of the handler: {len(one.main.failed)} recorded, "
              f"{one.main.dropped} counted as dropped")
        print(f"{handled} calls of the handler, {one.main.dropped} of them while the guard was held")
    check(one.main.header["dropped"] == "0", f"{way}: header drops {one.main.header['dropped']}")
recording.done()
