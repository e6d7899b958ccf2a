# SPDX-License-Identifier: BSD-2-Clause
"""Checks on_page.py: what it takes for the same row, and what it does not."""
import os
import subprocess
import sys
import tempfile

PAGE = """# A page

| moment | all, MiB | blocks | share |
| --- | ---: | ---: | ---: |
| `full` | 100.0 | 4,217,552 | 62.1 % |
| moved | 34 | 0 | – |
"""
SAME = ["| moment | all, MiB | blocks | share |", "| --- | ---: | ---: | ---: |", "| full | 101.9 | 4217552 | 62.0 % |",
        "| moved | 34 | 0 | – |", "no row of a table"]
OTHERS = ["| full | 102.1 | 4217552 | 62.1 % |", "| moved | 34 | 1 | – |", "| empty | 34 | 0 | – |", "| moved | 34 | 0 |",
          "| moved | 34 | 0 | 5 |"]


def compare(folder, rows):
    page, ours = os.path.join(folder, "page.md"), os.path.join(folder, "rows.txt")
    open(page, "w", encoding="utf-8").write(PAGE)
    open(ours, "w", encoding="utf-8").write("".join(row + "\n" for row in rows))
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "on_page.py")
    return subprocess.run([sys.executable, program, page, ours, "2"], capture_output=True, encoding="utf-8",
                          env={**os.environ, "PYTHONUTF8": "1"})


with tempfile.TemporaryDirectory() as folder:
    done = compare(folder, SAME)
    assert done.returncode == 0, done.stdout + done.stderr
    for other in OTHERS:
        done = compare(folder, [SAME[0], other])
        assert done.returncode == 1 and "not on the page" in done.stdout, (other, done.stdout, done.stderr)
    assert compare(folder, ["no table"]).returncode == 1, "an empty table is the same as any"
