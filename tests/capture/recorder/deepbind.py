# SPDX-License-Identifier: BSD-2-Clause
"""Modules loaded with RTLD_DEEPBIND take malloc from the C library. The same blocks are recorded for them
as without the flag, and missing blocks are reported."""
import os
import sqlite3
import subprocess

import recording
from recording import BUILD, Recording, check, check_sound, program, sizes

PLUGINS = program("deepbind_plugins")
LATE, NAMESPACE = 1, 2


def plugin(name):
    return f"{PLUGINS}/deepbind_{name}.so"


def record(name, how, module, *more, environment=None):
    one = Recording("deepbind-" + name, [program("deepbind"), how, module, *more],
                    environment=environment)
    check(one.run.returncode == 0, f"{name}: {one.run}")
    check_sound(one)
    return one


def events(one, least=3900):
    """Returns how often each size from `least` up was allocated."""
    return sizes(one.main, least)


def check_same(name, module, without, with_flag, *more, late=True):
    plain, deep = record(name + "-plain", without, module, *more), record(name, with_flag, module, *more)
    expected = events(plain)
    times = int(more[0]) if more else 1
    check(expected.get(5001 if "cxx" not in name else 5011) == times and sum(expected.values()) >= 120 * times, f"{name}: as expected: {expected}")
    missing = {size: n - events(deep).get(size, 0) for size, n in expected.items() if n != events(deep).get(size, 0)}
    missing.pop(7001, None)  # the constructor's
    for pool in (72704, 73728):
        missing.pop(pool, None)  # of the constructor of libstdc++ 12 and 14
    check(not missing, f"{name}: missing {missing}")
    check(not plain.main.bypassed and not plain.run.stderr, f"{name}: without {plain.run.stderr}")
    named = [os.path.basename(path) for reason, path in deep.main.bypassed if reason == LATE]
    check((os.path.basename(module) in named) == late, f"{name}: named {deep.main.bypassed}")
    check((os.path.basename(module) in deep.run.stderr) == late, f"{name}: said {deep.run.stderr}")
    check(deep.run.stderr.count("\n") <= 1, f"{name}: one line: {deep.run.stderr}")
    overlaps = deep.main.overlaps(unknown_frees=True)
    check(not overlaps, f"{name}: {overlaps[:3]}")
    return deep


def session_of(one):
    path = one.folder + "/session.db"
    run = subprocess.run([BUILD + "/bin/mprof-ingest", "-o", path, one.path], check=True, capture_output=True, text=True)
    return sqlite3.connect(path), run.stdout


def meta(session, key):
    row = session.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row and row[0]


# The constructor has called malloc before its slot was changed, so its block is missing.
deep = check_same("lazy", plugin("lazy"), "-", "d")
check(7001 not in events(deep), "the constructor's block")
session, said = session_of(deep)
check(meta(session, "late_modules") == plugin("lazy"), f"meta: {meta(session, 'late_modules')}")
check(meta(session, "overlaps") == 0 and meta(session, "unmatched_frees") == 0, "pairs")
check("1 modules recorded only after their start" in said, f"summary: {said}")
check_same("now", plugin("now"), "n", "dn")
check_same("norelro", plugin("norelro"), "-", "d")
deep = check_same("cxx", plugin("cxx"), "-", "d", late=False)
check([os.path.basename(path) for _, path in deep.main.bypassed] == ["libstdc++.so.6"], f"cxx: {deep.main.bypassed}")
# The module is closed and loaded again, at the same place or another.
check_same("again", plugin("now"), "n", "dn", "20")
check_same("again-lazy", plugin("lazy"), "-", "d", "20")
# The real dlopen still sees its caller, so it finds what only the plugin's run path leads to.
check_same("run-path", plugin("path"), "o", "do", late=True)

# If nothing is looked up, the module is noticed when it is closed.
quiet = record("quiet", "dq", plugin("now"))
check([r for r, _ in quiet.main.bypassed] == [LATE], f"without dlsym: {quiet.main.bypassed}")

# Another namespace has its own heap. Its blocks must never come here, and a message says that.
space = record("namespace", "s", plugin("now"))
check((NAMESPACE, plugin("now")) in space.main.bypassed, f"namespace: {space.main.bypassed}")
check(5001 not in events(space) and "namespace" in space.run.stderr, f"namespace: {space.run.stderr}")
session, said = session_of(space)
check(plugin("now") + " (in a namespace with a heap of its own)" in meta(session, "unseen_modules").splitlines(),
      f"namespace: {meta(session, 'unseen_modules')}")

# Threads allocate while the slots are changed. They go on, and all later blocks are recorded.
for name in ("now", "lazy"):
    busy = record("threads-" + name, "dnt", plugin(name), environment={"PLUGIN_WORKS": "1"})
    words = busy.run.stdout.replace(",", "").split()
    seen = events(busy, 6000)
    check(int(words[1]) > 0 and int(words[3]) > 0, f"no overlap: {busy.run.stdout}")
    check(seen.get(6001) == 4000, f"{name}: after the change {seen.get(6001)}")
    check(0 < seen.get(6000, 0) < int(words[1]) + int(words[3]) + 10 ** 9, f"{name}: while {seen.get(6000)}")

# Without the recorder the results are the same.
for how in ("d", "dn", "do"):
    module = plugin("path" if "o" in how else "lazy")
    run = subprocess.run([program("deepbind"), how, module], capture_output=True, text=True)
    check(run.returncode == 0 and not run.stderr, f"alone: {run}")
recording.done()
