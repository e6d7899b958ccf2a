# SPDX-License-Identifier: BSD-2-Clause
"""docs/session-schema.md explains every table of a session: a section names it and all its columns. Tables that are
derived from others are explained in schemas/, so the page needs only their names."""
import os
import re
import sqlite3
import sys

source = os.environ["MPROF_SOURCE"]
database = sqlite3.connect(":memory:")
database.executescript(open(f"{source}/schemas/session.sql").read())
page = open(f"{source}/docs/session-schema.md").read().split("\n## Tables\n")[1].split("\n## ")[0]

sections = {}
for section in page.split("\n### ")[1:]:
    title, text = section.split("\n", 1)
    for table in title.split(", ") + re.findall(r"\*\*(\w+)\*\*", text):
        sections[table] = sections.get(table, "") + section

bad = 0
for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"):
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", sections.get(table, "")))))
    columns = [row[1] for row in database.execute(f"PRAGMA table_xinfo({table})") if row[1] != "id"]
    if table not in sections:
        print(f"{table}: no section")
        bad += 1
    elif "Derived tables" not in sections[table]:
        missing = [column for column in columns if column not in words]
        if missing:
            print(f"{table}: its section does not name {', '.join(missing)}")
            bad += 1
sys.exit(bad > 0)
