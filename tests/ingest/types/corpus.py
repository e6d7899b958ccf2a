#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""corpus.py (PROGRAM-COMPILER-LEVEL SESSION)…: compares the type of each block with the one
that the program itself stated (tests/programs/types/corpus/corpus.h), and prints a table.

Fails for a wrong `exact`, for more than 2 % wrong among the `inferred` of a compiler and level, for a type that
is unknown or wrong although the program says that it must be known, and for a statement about no block.
"""
import collections
import sqlite3
import sys

INFERRED_WRONG_MAX = 0.02


class Blocks:
    """The session's blocks. Finds the one that holds an address at a time."""

    def __init__(self, session):
        database = sqlite3.connect(f"file:{session}?mode=ro", uri=True)
        self.rows = database.execute("""SELECT id, address, size, type, confidence, count, alloc_ns, free_ns,
            line FROM v_allocation WHERE arena_id = 0 ORDER BY alloc_ns, id""").fetchall()
        self.marks = database.execute("SELECT ns, name FROM mark WHERE kind = 'mark' ORDER BY ns, id").fetchall()

    def holding(self, address, time):
        found = [row for row in self.rows if row[1] <= address < row[1] + max(row[2], 1)
                 and row[6] <= time and (row[7] is None or row[7] >= time)]
        return found[-1] if found else None

    def last(self, begin, time, stated):
        found = [row for row in self.rows if begin <= row[6] <= time and row[0] not in stated]
        return found[-1] if found else None


class Judge:
    def __init__(self):
        self.faults = []  # (kind, program, place, stated, found)
        self.cases = collections.defaultdict(set)  # by program
        self.answers = collections.defaultdict(collections.Counter)  # by way to build

    def compare(self, name, how, case, truth, row):
        """Counts the answer about the block of `row`; `truth` is (types, count)."""
        types, count = truth
        _, _, size, kind, confidence, elements, _, _, line = row
        way, place = name.split("-", 1)[1], f"{case}:{line}"
        counts = self.answers[way]
        counts["blocks"] += 1
        if kind is None or confidence not in ("exact", "inferred"):
            counts["unknown"] += 1
            counts["right"] += types == "?"
            if how == "known":
                self.faults.append(("unknown", name, place, types, f"{size} bytes"))
            return
        counts[confidence] += 1
        right = (types == "*" or kind in types.split("|")) and count in (0, elements)
        counts["right"] += right
        if not right:
            counts["wrong " + confidence] += 1
            fault = "known" if how == "known" and confidence == "inferred" else confidence
            self.faults.append((f"wrong {fault}", name, place, f"{types} x {count}", f"{kind} x {elements}"))

    def read(self, name, session):
        blocks, case, begin, stated = Blocks(session), None, 0, set()
        for time, text in blocks.marks:
            how, rest = text.split("|", 1)
            if how in ("case", "end"):
                case, begin = rest, time
                if how == "case":
                    self.cases[name.split("-")[0]].add(case)
                continue
            address, count, types = rest.split("|", 2)
            row = blocks.holding(int(address), time) if int(address) else blocks.last(begin, time, stated)
            if row is None:
                self.faults.append(("no block", name, case, types, "-"))
                continue
            stated.add(row[0])
            self.compare(name, how, case, (types, int(count)), row)

    def table(self):
        print(f"{'built by':<18}{'blocks':>7}{'exact':>7}{'wrong':>6}{'inferred':>9}{'wrong':>6}{'unknown':>8}{'right':>8}")
        total = collections.Counter()
        for counts in self.answers.values():
            total.update(counts)
        for way, counts in list(self.answers.items()) + [("all", total)]:
            print(f"{way:<18}{counts['blocks']:>7}{counts['exact']:>7}{counts['wrong exact']:>6}{counts['inferred']:>9}"
                  f"{counts['wrong inferred']:>6}{counts['unknown']:>8}{100 * counts['right'] / max(1, counts['blocks']):>7.1f}%")
        print(f"{sum(map(len, self.cases.values()))} cases")
        return total

    def verdict(self):
        """True if nothing is wrong except a few inferred types."""
        total = self.table()
        good = total["blocks"] > 0 and all(fault[0] == "wrong inferred" for fault in self.faults)
        for way, counts in self.answers.items():
            if counts["wrong inferred"] > INFERRED_WRONG_MAX * counts["inferred"]:
                print(f"{way}: more than {INFERRED_WRONG_MAX:.0%} of the inferred types are wrong")
                good = False
        for kind, name, place, truth, found in self.faults:
            print(f"{kind}: {name} {place}: stated {truth}, found {found}")
        return good


def main():
    arguments, judge = sys.argv[1:], Judge()
    for at in range(0, len(arguments), 2):
        judge.read(*arguments[at:at + 2])
    sys.exit(not judge.verdict())


main()
