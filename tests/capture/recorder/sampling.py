# SPDX-License-Identifier: BSD-2-Clause
"""--sample: the estimates of a sample agree with the full recording within their errors, by stack and in
total, over several seeds. The recorded part of a sample is complete."""
import math
import re
import sqlite3
import subprocess

import recording
from recording import Recording, check, check_sound, program

MEAN, SEEDS, Z = 16384, 8, 4.5
ALLOCATIONS = 2 * (40000 + 200 + 8000 + 200 * 13)


def session(one):
    path = one.folder + "/session.db"
    subprocess.run([recording.BUILD + "/bin/mprof-ingest", "-q", "-o", path, one.path], check=True)
    with sqlite3.connect(path) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
        problems = database.execute("SELECT kind, detail FROM problem").fetchall()
        rows = database.execute(
            """SELECT (SELECT group_concat(function || ':' || line, '<') FROM v_stack WHERE stack_id = e.stack_id),
                      allocations, bytes, live_count, live_bytes, allocations_variance, bytes_variance, recorded
               FROM v_estimate e""").fetchall()
        arenas = {name: numbers for name, *numbers in database.execute(
            """SELECT arena, sum(allocations), sum(bytes), sum(live_bytes), sum(bytes_variance), sum(recorded)
               FROM v_arena_estimate GROUP BY arena""")}
        in_arenas = database.execute("""SELECT r.name, size, count(*), count(*) - count(free_ns)
            FROM allocation a JOIN arena r ON r.id = a.arena_id GROUP BY 1, 2""").fetchall()
        sizes = database.execute(
            """SELECT (SELECT group_concat(function || ':' || line, '<') FROM v_stack v WHERE v.stack_id = a.stack_id),
                      size, count(*), count(*) - count(free_ns) FROM allocation a WHERE arena_id = 0 GROUP BY 1, 2""").fetchall()
    check(not problems, f"{path}: {problems[:3]}")
    for key in ("unmatched_frees", "double_frees", "overlaps", "dropped_events"):
        check(int(meta[key]) == 0, f"{path}: {key} {meta[key]}")
    stacks = {}
    for stack, *numbers in rows:  # a compiler may have made two calls from one line
        stacks[stack] = [a + b for a, b in zip(stacks.get(stack, [0] * 7), numbers)]
    return meta, stacks, sizes, arenas, in_arenas


def weight(size):
    return -1 / math.expm1(-max(size, 1) / MEAN)


def true_errors(sizes):
    """Returns the standard errors of the estimated number and bytes by stack, from the full recording."""
    errors = {}
    for stack, size, count, _ in sizes:
        extra = weight(size) - 1
        number, volume = errors.get(stack, (0, 0))
        errors[stack] = number + count * extra, volume + count * extra * size * size
    return {stack: (math.sqrt(a), math.sqrt(b)) for stack, (a, b) in errors.items()}


meta, whole, sizes, whole_arenas, in_arenas = session(Recording("sampling-whole", [program("sampled")]))
check(meta["sampled"] == 0 and all(row[4] == 0 for row in whole.values()), "the whole is not sampled")
check(sum(row[0] for row in whole.values()) == meta["allocations"] == ALLOCATIONS, f"the whole: {meta['allocations']}")
errors = true_errors(sizes)
means = {stack: [0, 0] for stack in whole}
total_error = [math.sqrt(sum(error[i] ** 2 for error in errors.values())) for i in (0, 1)]
live_error = math.sqrt(sum(live * size * size * (weight(size) - 1) for _, size, _, live in sizes))
within = tried = 0
arena_errors, arena_means = {}, {name: 0 for name in whole_arenas}
for name in whole_arenas:
    mine = [row for row in in_arenas if row[0] == name]
    arena_errors[name] = [math.sqrt(sum(count * (weight(size) - 1) * by for _, size, count, by in column)) for column in (
        [(name, size, count, 1) for _, size, count, _ in mine], [(name, size, count, size * size) for _, size, count, _ in mine],
        [(name, size, live, size * size) for _, size, _, live in mine])]
check(sorted(whole_arenas) == ["pool", "scratch"] and all(row[3] == 0 for row in whole_arenas.values()), f"arenas: {whole_arenas}")
for seed in range(1, SEEDS + 1):
    one = Recording("sampling-part", [program("sampled")], run_options=[f"--sample={MEAN // 1024}K"],
                    environment={"MPROF_TEST_SEED": str(seed)})
    check(one.run.returncode == 0 and not one.run.stderr, f"{one.run}")
    check_sound(one)
    meta, part, _, arenas, _ = session(one)
    check(meta["sampled"] == 1 and meta["sample_interval"] == MEAN, f"meta: {meta}")
    check(0 < meta["allocations"] < ALLOCATIONS / 10, f"it is a sample: {meta['allocations']}")
    check(set(part) <= set(whole), "no stack but the program's")
    for stack, true in whole.items():
        estimate = part.get(stack, (0,) * 7)
        for i in (0, 1):
            means[stack][i] += estimate[i] / SEEDS
            error = errors[stack][i]
            check(abs(estimate[i] - true[i]) <= Z * error, f"seed {seed}, {stack}: {estimate[i]} of {true[i]}, error {error}")
            if estimate[6] >= 50:
                tried += 1
                within += abs(estimate[i] - true[i]) <= 2 * math.sqrt(estimate[4 + i])
    for name, true in whole_arenas.items():
        for i in range(3):
            check(abs(arenas[name][i] - true[i]) <= Z * arena_errors[name][i],
                  f"seed {seed}, arena {name}: {arenas[name][i]} of {true[i]}, error {arena_errors[name][i]}")
        arena_means[name] += arenas[name][1] / SEEDS
        check(arenas[name][4] < true[4] / 3, f"seed {seed}: {arenas[name][4]} blocks of the arena {name} are not a sample")
    for key, i in (("estimated_allocations", 0), ("estimated_bytes", 1)):
        true = sum(row[i] for row in whole.values())
        check(abs(meta[key] - true) <= Z * total_error[i], f"seed {seed}: {key} {meta[key]} of {true}")
    true = sum(row[3] for row in whole.values())
    check(abs(meta["estimated_live_bytes_end"] - true) <= Z * live_error, f"seed {seed}: live bytes {meta} of {true}")
for stack, true in whole.items():
    for i in (0, 1):
        check(abs(means[stack][i] - true[i]) <= Z * errors[stack][i] / math.sqrt(SEEDS),
              f"no bias in {stack}: {means[stack][i]} of {true[i]}")
for name, true in whole_arenas.items():
    check(abs(arena_means[name] - true[1]) <= Z * arena_errors[name][1] / math.sqrt(SEEDS), f"no bias in {name}: {arena_means[name]} of {true[1]}")
check(tried >= 50 and within >= 0.85 * tried, f"within two standard errors: {within} of {tried}")

# The browser shows estimates: the same sums, also with a filter, apart from the rounding of the display.
shown = re.compile(r"allocated +~([0-9.]+) ([KMG])iB in ~([0-9,]+)")
for text, where in (("all", ""), ("all | where function == all_sizes", "WHERE function = 'all_sizes'")):
    screen = subprocess.run([recording.BUILD + "/bin/mprof-tui", "--script", "-", "--size", "200x40", "--filter", text,
                             one.folder + "/session.db"], input="dump\n", capture_output=True, text=True)
    check("sampled, one in 16.0 KiB" in screen.stdout.splitlines()[1], f"the browser's title: {screen}")
    with sqlite3.connect(one.folder + "/session.db") as database:
        count, volume = database.execute(f"SELECT sum(allocations), sum(bytes) FROM v_estimate {where}").fetchone()
    found = shown.search(screen.stdout)
    check(found and abs(int(found[3].replace(",", "")) - count) <= 20 and
          abs(float(found[1]) * 1024 ** (" KMG".index(found[2])) - volume) <= 0.006 * volume,
          f"the browser's sums of {text}: {found and found[0]}, {count} blocks of {volume} bytes")

# Nearly all is recorded here. Threads, forks and errno are as usual, and each end is of a known block.
folder = recording.folder("sampling-logs")
plugin = program("stress_plugin.so")
for name, arguments in (("stress", [folder, plugin, "4", "3000", "7"]), ("threads", ["short", "200"]),
                        ("forks", ["many", "20"]), ("errno_kept", ["2000"])):
    one = Recording("sampling-" + name, [program(name), *arguments], run_options=["--sample=64"])
    check(one.run.returncode == 0, f"{name}: {one.run}")
    check(name != "forks" or len(one.traces) == 21, f"{name}: {len(one.traces)} traces")
    for path, trace in one.traces.items():
        for line in (trace.complain() + trace.overlaps(unknown_frees=False))[:5]:
            check(False, f"{name} {path}: {line}")
recording.done()
