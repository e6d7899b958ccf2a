# SPDX-License-Identifier: BSD-2-Clause
"""on_page.py PAGE ROWS PERCENT: compares the rows of tables in ROWS with those of PAGE. Each row must be there with
the same words, and with numbers that differ by at most PERCENT. Prints the others, and ends with status 1."""
import re
import sys


def rows(path):
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if line.startswith("|") and not set(line) <= set("|-: "):
            yield [cell.strip().strip("`") for cell in line.strip("|").split("|")]


def number(cell):
    plain = re.fullmatch(r"[+-]?[\d,]+(\.\d+)?( [%\w]+)?", cell) and cell.replace(",", "").split()[0]
    return float(plain) if plain else None


def same(ours, page, percent):
    if number(ours) is None or number(page) is None:
        return ours == page
    return abs(number(ours) - number(page)) <= abs(number(page)) * percent / 100


def main(page, path, percent):
    table, wanted = list(rows(page)), list(rows(path))
    missing = [row for row in wanted
               if not any(len(row) == len(there) and all(map(same, row, there, [percent] * len(row))) for there in table)]
    for row in missing:
        near = next((there for there in table if there[0] == row[0] and len(there) == len(row)), None)
        print("not on the page:", " | ".join(row), "" if near is None else "\n      it says: " + " | ".join(near))
    if not wanted:
        print("no rows to compare")
    return bool(missing) or not wanted


sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
