#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""languages.py [LANGUAGE]…: builds programs in other languages than C and C++, records them, and judges the types
and the user's frames that mprof-ingest finds.

A program states its types in comments. `= TYPE` after the sign of a comment says that the user's frame of the blocks
made on this line is on this line, and names their type; `+ TYPE` names another one that the line also makes. `{a,b}`
stands for a or b, a star at the end for the rest. `@ OWNER` states the owner, whose member may be missing. A line whose comment is only `=` has a type that nothing in the program tells: any answer is wrong.

Prints a row for each build: lines by their worst answer, and blocks from marked lines whose user's frame is not in
the program's source. Exits with 1 if an `exact` type is wrong, if more than 1 % of the lines of a language have a
wrong `inferred` one, if a user's frame goes astray, or if more lines are unknown or unseen than the build allows.
Compilers that are not installed are skipped with a message. Needs MPROF_BUILD and MPROF_SOURCE.
"""
import collections
import os
import re
import shutil
import sqlite3
import subprocess
import sys

SOURCES = os.path.join(os.environ["MPROF_SOURCE"], "tests/programs/languages")
PROGRAMS = os.path.join(os.environ["MPROF_BUILD"], "bin")

# By language: the source, the compilers, what follows the options of a build, and what follows the program's name.
# Each build has options and the shares of lines that may be unknown, and unseen because the frame is missing.
LANGUAGES = {
    "rust": ("cases.rs", ["rustc", "/usr/bin/rustc"], ["--edition=2021", "-g", "-o", "cases", "cases.rs"], [], [
        ("-Copt-level=0", 0.03, 0), ("-Copt-level=2", 0.03, 0.1), ("-Copt-level=3 -Cpanic=abort", 0.03, 0.1),
        ("-Copt-level=2 -Clto=fat", 0.03, 0.1), ("-Copt-level=s", 0.05, 0.2),
        ("-Copt-level=2 -Csymbol-mangling-version=v0", 0.03, 0.1)]),
    "fortran": ("cases.f90", ["gfortran"], ["-g", "-o", "cases", "cases.f90"], [], [("-O0", 1, 0), ("-O2", 1, 0)]),
    "d, gdc": ("cases.d", ["gdc"], ["-g", "-o", "cases", "cases.d"], ["--DRT-gcopt=gc:manual"],
               [("-O0", 0.9, 0), ("-O2", 0.9, 0.2)]),
    "d, ldc": ("cases.d", ["ldc2"], ["-g", "-of=cases", "cases.d"], ["--DRT-gcopt=gc:manual"],
               [("-O0", 0.9, 0), ("-O2", 0.9, 0.2)]),
    "ada": ("cases.adb", ["gnatmake"], ["-q", "-g", "cases.adb"], [], [("-O0", 1, 0.2), ("-O2", 1, 0.2)]),
    "objective-c": ("cases.m", ["gcc"], ["-std=gnu11", "-g", "-o", "cases", "cases.m", "-lobjc"], [],
                    [("-O0", 0.5, 0), ("-O2", 0.5, 0.2)]),
    "nim": ("cases.nim", ["nim"], ["--gc:arc", "-d:useMalloc", "--hints:off", "--debugger:native", "-o:cases",
                                   "cases.nim"], [], [("c", 0.9, 0.2), ("c -d:release", 0.9, 0.5)]),
    "pascal": ("cases.pas", ["fpc"], ["-g", "-gw2", "cases.pas"], [], [("-O1", 1, 0.8)]),
    "go": ("cases.go", ["go"], ["-o", "cases", "cases.go"], [], [("build", 0.6, 0.6)]),
}
COLUMNS = "right exact", "right inferred", "wrong exact", "wrong inferred", "unknown", "unseen"


def alternatives(text):
    """The texts that one with {a,b} stands for."""
    choice = re.search(r"\{([^{}]*,[^{}]*)\}", text)
    if not choice:
        return {text}
    return set().union(*(alternatives(text[:choice.start()] + word + text[choice.end():])
                         for word in choice[1].split(",")))


def matches(name, patterns):
    return any(name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])) for pattern in patterns)


def read_cases(path):
    """By line: the types that are right, those that are there too, and the owner or None."""
    cases, last = {}, None
    sign = {".f90": "!", ".adb": "--", ".nim": "#"}.get(os.path.splitext(path)[1], "//")
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            mark = re.search(rf"(?:^|\s){sign}([=+]) ?(.*)$", line.rstrip())
            if not mark:
                continue
            if mark[1] == "=":
                last = number
                cases[number] = (set(), set(), mark[2].partition(" @ ")[2] or None)
            cases[last][mark[1] == "+"].update(alternatives(mark[2].partition(" @ ")[0]) if mark[2] else ())
    return cases


def judge(session, source, cases):
    """By line, the worst answer; the blocks from marked lines whose user's frame is elsewhere; lines by their owner."""
    answers, owners = collections.defaultdict(set), collections.Counter()
    database = sqlite3.connect(session)
    rows = database.execute("""SELECT f.line, a.type, a.confidence, a.owner FROM v_allocation a JOIN stack s ON s.id = a.stack_id
        JOIN frame f ON f.id = s.user_frame_id JOIN source_file p ON p.id = f.source_file_id
        WHERE p.path LIKE ? GROUP BY 1, 2, 3, 4""", ("%" + source,))
    for line, name, confidence, owner in rows:
        right, beside, held = cases.get(line, (None, None, None))
        if held and confidence != "unknown" and matches(name, right):
            kind = "member" if owner == held and held.count("::") > 1 else \
                "class" if owner in (None, held, held.rpartition("::")[0]) else "wrong owner"
            owners[kind] += 1
            if kind == "wrong owner":
                print(f"  line {line}: {owner} is not the owner")
        if right is None or (confidence != "unknown" and matches(name, beside)):
            continue
        verdict = "unknown" if confidence == "unknown" else ("right " if matches(name, right) else "wrong ") + confidence
        answers[line].add(verdict)
        if verdict.startswith("wrong"):
            print(f"  line {line}: {name} is {verdict}")
    order = "wrong exact", "wrong inferred", "unknown", "right inferred", "right exact"
    worst = {line: next(word for word in order if word in found) for line, found in answers.items()}
    marked = ",".join(str(line) for line in cases)
    astray = database.execute(f"""SELECT s.id, u.name, s.allocations FROM (SELECT stack_id AS id, count(*) AS allocations
            FROM v_allocation GROUP BY 1) s JOIN stack t ON t.id = s.id
        LEFT JOIN frame f ON f.id = t.user_frame_id LEFT JOIN function u ON u.id = f.function_id
        LEFT JOIN source_file p ON p.id = f.source_file_id
        WHERE (p.path IS NULL OR p.path NOT LIKE ?) AND EXISTS (SELECT 1 FROM v_stack v
            WHERE v.stack_id = s.id AND v.file LIKE ? AND v.line IN ({marked}))""", ("%" + source, "%" + source)).fetchall()
    for _, function, count in astray:
        print(f"  {count} blocks are said to be of {function}")
    return worst, sum(count for _, _, count in astray), owners


def record(folder, program):
    def run(*command, **options):
        subprocess.run(command, cwd=folder, check=True, **options)
    run(f"{PROGRAMS}/mprof-run", "--force", "--quiet", "-o", "trace.bin", *program, stdout=subprocess.DEVNULL)
    run(f"{PROGRAMS}/mprof-ingest", "--force", "--cache=off", "-q", "-o", "session.db", "trace.bin")
    return os.path.join(folder, "session.db")


def try_language(language, complain):
    source, compilers, arguments, parameters, builds = LANGUAGES[language]
    cases = read_cases(os.path.join(SOURCES, source))
    found = {os.path.realpath(path): path for path in map(shutil.which, compilers) if path}
    if not found:
        print(f"{language}: skipped, because no {' or '.join(compilers)} is installed")
        return
    total = collections.Counter()
    for compiler in found.values():
        for options, unknown_max, unseen_max in builds:
            folder = os.path.join("languages", language)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            shutil.copy(os.path.join(SOURCES, source), folder)
            command = [compiler, *options.split(), *arguments]
            built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            name = f"{language}, {compiler} {options}"
            if "objc.h" in built.stderr or "objc/" in built.stderr:
                print(f"{language}: skipped, because gobjc is not installed")
                continue
            if built.returncode != 0:
                complain(f"{name}: {built.stderr[-2000:]}")
                continue
            worst, astray, owners = judge(record(folder, ["./cases", *parameters]), source, cases)
            count = collections.Counter(worst.values())
            count["unseen"] = len(cases) - sum(count.values())
            total.update(count)
            print(f"{name}: {len(cases)} lines: " + ", ".join(f"{count[word]} {word}" for word in COLUMNS if count[word]) +
                  (f"; {astray} blocks astray" if astray else "") +
                  "".join(f"; {number} by {kind}" for kind, number in sorted(owners.items())))
            if count["wrong exact"] or astray or owners["wrong owner"]:
                complain(f"{name}: an exact type or an owner is wrong, or a block is said to be of another function")
            if count["unknown"] > unknown_max * len(cases) or count["unseen"] > unseen_max * len(cases):
                complain(f"{name}: too many lines are unknown or unseen")
    if total["wrong inferred"] > 0.01 * sum(total.values()):
        complain(f"{language}: {total['wrong inferred']} of {sum(total.values())} inferred types are wrong")


def main():
    failed = []
    for language in sys.argv[1:] or LANGUAGES:
        try_language(language, failed.append)
    for text in failed:
        print(f"FAILED: {text}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
