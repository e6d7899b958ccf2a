# SPDX-License-Identifier: BSD-2-Clause
"""tree.py PRINT_TREE SESSION: compares calling context trees with what this file computes from the
rows and stacks of the session by SQL and plain loops. Prints each difference; exit status 1 if there
is one."""
import sqlite3
import subprocess
import sys

program, session = sys.argv[1:]
database = sqlite3.connect(f"file:{session}?mode=ro", uri=True)
peak = int(database.execute("SELECT value FROM meta WHERE key = 'peak_ns'").fetchone()[0])
end = int(database.execute("SELECT value FROM meta WHERE key = 'duration_ns'").fetchone()[0])
reading, read_ns = database.execute("SELECT id, ns FROM residency ORDER BY present DESC LIMIT 1").fetchone() or (0, end // 2)
OWN, RUNTIME = 0, 1
FUNCTION, LIBRARY, NO_OWN_CODE, NO_STACK = 1, 2, 3, 4
LARGE_CYCLE = 4  # larger ones have a node for each function by which paths leave them
differences = nodes = cycles = large = stored = 0


def differ(*words):
    global differences
    differences += 1
    if differences < 20:
        print(*words)


def sums_of_stacks(condition, start, stop):
    live = "alloc_ns <= %d AND ifnull(free_ns > %d, 1)"
    resident = dict(database.execute("SELECT stack_id, sum(resident) FROM residency_stack WHERE residency_id = ?"
                                     " GROUP BY 1", (reading,))) if condition == "1" else {}
    return {row[0]: row[1:] + (resident.get(row[0], 0),) for row in database.execute(
        "SELECT stack_id, "
        + f"total(size) FILTER (WHERE {live % (peak, peak)}), "
        + f"count(*) FILTER (WHERE {live % (peak, peak)}), sum(size), count(*), "
        "total(size) FILTER (WHERE free_ns IS NULL), count(*) FILTER (WHERE free_ns IS NULL), "
        "count(*) FILTER (WHERE free_ns - alloc_ns < 1000000), "
        + f"total(size) FILTER (WHERE {live % (start, start)}), "
        + f"total(size) FILTER (WHERE {live % (stop, stop)}) "
        + f"FROM allocation WHERE arena_id = 0 AND {condition} GROUP BY 1")}


def frames_of_stacks():
    """By stack: the functions from the call site outwards."""
    site = dict(database.execute("SELECT id, call_site_frame_id FROM stack"))
    stacks = {}
    inside = {}
    for stack, frame, function in database.execute(
            "SELECT stack_id, frame_id, function_id FROM stack_frame s"
            " JOIN frame f ON f.id = s.frame_id ORDER BY stack_id, depth"):
        stacks.setdefault(stack, [])
        if inside.get(stack, False) or site[stack] in (frame, None):
            inside[stack] = True
            stacks[stack].append(function)
    return stacks


def visible(functions, classes):
    """The functions of a path without libraries, outermost first; what lies inside; its kind."""
    for wanted in (OWN, RUNTIME):
        shown = [f for f in functions if f and classes[f] == wanted]
        if shown:
            inside = functions[:functions.index(shown[0])]
            return shown[::-1], inside[-1] if inside and wanted == OWN else None, FUNCTION
    return functions[::-1], None, NO_OWN_CODE


def components(paths):
    """By function: the set of those that it reaches and that reach it."""
    calls = {}
    for path in paths:
        for caller, callee in zip(path, path[1:]):
            calls.setdefault(caller, set()).add(callee)
    reached = {}
    for function in {f for path in paths for f in path}:
        seen, left = set(), [function]
        while left:
            for callee in calls.get(left.pop(), ()):
                if callee not in seen:
                    seen.add(callee)
                    left.append(callee)
        reached[function] = seen
    return {f: frozenset({f} | {g for g in reached[f] if f in reached[g]}) for f in reached}


def expected_tree(flags, sums, classes):
    """By path, a tuple of (kind, functions): the sums, then those of the stacks that end there."""
    stacks = frames_of_stacks()
    shown = {}
    for stack in sums:
        functions = stacks.get(stack, [])
        if not functions:
            shown[stack] = ([], None, NO_STACK)
        elif "h" in flags:
            shown[stack] = visible(functions, classes)
        else:
            shown[stack] = (functions[::-1], None, FUNCTION)
    merged = components([s[0] for s in shown.values()]) if "f" in flags else {}
    tree = {}
    for stack, (functions, library, kind) in shown.items():
        if "u" in flags:
            functions, library = functions[::-1], None
        path = [] if kind == FUNCTION else [(kind, frozenset())]
        passed = []
        for function in functions:
            group = merged.get(function, frozenset({function}))
            if merged and passed and passed[-1][0] == group:
                passed.pop()
            passed.append((group, function))
        for group, left_by in passed:
            path.append((FUNCTION, group))
            if len(group) > LARGE_CYCLE:
                path.append((FUNCTION, frozenset({left_by})))
        if library is not None:
            path.append((LIBRARY, frozenset({library})))
        for depth in range(len(path) + 1):
            node = tree.setdefault(tuple(path[:depth]), [0] * 20)
            for i, value in enumerate(sums[stack]):
                node[i] += int(value)
                node[i + 10] += int(value) if depth == len(path) else 0
    return tree


def check_stored(tree):
    """Compares a tree of all functions from the outermost on with the one that the session has."""
    global stored
    paths = {None: ()}
    for node, parent, function, *sums in database.execute(
            "SELECT id, parent_id, function_id, total_at_peak_bytes, total_at_peak_count, total_bytes,"
            " total_count, total_live_bytes, total_live_count, self_at_peak_bytes, self_at_peak_count,"
            " self_bytes, self_count, self_live_bytes, self_live_count FROM v_call_tree ORDER BY id"):
        paths[node] = paths[parent] + ((FUNCTION, frozenset({function})),)
        found = tree.get(paths[node])
        if found is None or found[:6] + found[10:16] != sums:
            differ("v_call_tree", paths[node], sums, "tree", found)
        stored += 1


def check(flags, text, condition, start, stop):
    global nodes, cycles, large
    lines = subprocess.run([program, session, flags, text, str(start), str(stop)], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    classes, paths, found, tests = {}, {}, {}, 0
    for kind, *fields in (line.split() for line in lines):
        if kind == "C":
            classes[int(fields[0])] = int(fields[1])
        elif kind == "N":
            number, parent, what = map(int, fields[:3])
            functions = frozenset() if fields[3] == "-" else frozenset(map(int, fields[3].split(",")))
            cycles += len(functions) > 1
            large += len(functions) > LARGE_CYCLE
            paths[number] = paths[parent] + ((what, functions),) if number else ()
            if paths[number] in found:
                differ(flags, "twice:", paths[number])
            found[paths[number]] = list(map(int, fields[5:]))
            if condition != "1":  # SQL does not know what of each block is in memory
                found[paths[number]][9] = found[paths[number]][19] = 0
        elif fields[1] == "1":
            tests += 1
            sums = found[paths[int(fields[0])]]
            if [sums[3], sums[2]] != [int(fields[2]), int(fields[3])]:
                differ(flags, "the test of a node selects", fields[2:], "not", sums)
    expected = expected_tree(flags, sums_of_stacks(condition, start, stop), classes)
    nodes += len(found)
    if tests == 0 and len(found) > 3:
        differ(flags, "no node has an exact test")
    for path in expected.keys() | found.keys():
        if expected.get(path) != found.get(path):
            differ(flags, path, "SQL", expected.get(path), "tree", found.get(path))
    if flags == "-" and condition == "1":
        check_stored(found)


for flags in ("-", "f", "h", "hf", "u", "uf", "uhf"):
    check(flags, "all", "1", end // 3, read_ns)
check("hf", "all | where size > 40", "size > 40", 0, end)
print(f"{nodes} nodes, {stored} of them stored, {cycles} cycles, {large} of them large, {differences} differences")
sys.exit(differences > 0 or stored < 10 or reading == 0)
