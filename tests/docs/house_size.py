#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints how large the house is, and fails when a figure of docs/how/house.md has grown by more than 2 %.

usage: house_size.py BUILD SOURCE. With MPROF_REFRESH=1 it writes the figures into the page.
A figure may grow if a row of the page's second table names it, its new value, and the reason.
"""
import os
import re
import subprocess
import sys

build, source = sys.argv[1:3]
os.chdir(source)
page = "docs/how/house.md"
ALLOWED = 1.02
ROOMS = ("capture", "cli", "ingest", "report", "runtimes", "schemas", "session", "tui")
SMALL = 30


def listed(*patterns):
    script = '. tests/docs/sources.sh; sources "$@"'
    text = subprocess.run(["bash", "-c", script, "sources", *patterns], check=True, capture_output=True, text=True)
    return sorted(text.stdout.split("\n")[:-1])


def without_comments(text):
    """Returns C without comments; texts stay, and so do line ends."""
    piece = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return piece.sub(lambda m: "\n" * m[0].count("\n") if m[0][0] == "/" else m[0], text)


def circles():
    text = subprocess.run([sys.executable, "tests/docs/call_circles.py", build, source], capture_output=True, text=True)
    return int(re.search(r"(\d+) circles$", text.stdout.strip())[1])


product = [path for path in listed("*.c", "*.h", "*.inc", "*.def") if path.split("/")[0] in ROOMS]
lines = comments = functions = tokens = small = 0
for path in product:
    text = open(path, encoding="utf-8").read()
    code = without_comments(text)
    own = text.count("\n")
    lines += own
    small += own <= SMALL
    comments += sum(bool(a.strip()) and not b.strip() for a, b in zip(text.split("\n"), code.split("\n")))
    functions += len(re.findall(r"^\{$", code, re.M))
    tokens += len(re.findall(r'"(?:\\.|[^"\\\n])*"|\w+|[^\w\s]', code))
sql = sum(open(path, encoding="utf-8").read().count("\n") for path in listed("*.sql") if path.split("/")[0] in ROOMS)
table = open("docs/architecture.md", encoding="utf-8").read()
figures = {
    "lines of C and headers": lines,
    "of these, comments": comments,
    "lines without comments": lines - comments,
    "lines of SQL": sql,
    "files of C and headers": len(product),
    f"files of at most {SMALL} lines": small,
    "functions": functions,
    "tokens": tokens,
    "rows of the table of rooms": len(re.findall(r"^\| `[a-z0-9/]+` \|", table, re.M)),
    "rooms in circles by calls": circles(),
}

text = open(page, encoding="utf-8").read()
failed = False
for name, now in figures.items():
    row = re.search(rf"^\| {re.escape(name)} \| ([\d,]+) \|", text, re.M)
    if not row:
        sys.exit(f"{page}: no row for {name}")
    then = int(row[1].replace(",", ""))
    raised = re.findall(rf"^\| {re.escape(name)} \| ([\d,]+) \| [^|]*[a-z][^|]*\|$", text[row.end():], re.M)
    limit = max([then, *(int(number.replace(",", "")) for number in raised)])
    print(f"{name:32} {now:>9,} {then:>9,}")
    if now > limit * ALLOWED:
        failed = True
        print(f"  more than {limit:,} by {100 * (now / limit - 1) if limit else 100:.1f} %: {page} has no reason for it")
    if os.environ.get("MPROF_REFRESH"):
        text = text[: row.start(1)] + f"{now:,}" + text[row.end(1):]
if os.environ.get("MPROF_REFRESH"):
    open(page, "w", encoding="utf-8").write(text)
    failed = False
if len(product) < 100 or functions < 1000:
    sys.exit("this counts nothing")
sys.exit(failed)
