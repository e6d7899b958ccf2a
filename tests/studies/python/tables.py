# SPDX-License-Identifier: BSD-2-Clause
"""tables.py SESSION TYPES: what is live at the mark "built", by Python line, by the type of the object, and by function
and type. The types are those that the recorder told at the end of the process. TYPES has the address and the type of
each object, as tree.py tells them: the last table says for how many blocks both agree. An object begins at its block,
or after the 16 bytes that the garbage collector needs, or after 16 more where its attributes may lie in a dict."""
import csv
import sqlite3
import sys

LINES = """SELECT a.size, a.address, CASE f.role WHEN 'runtime' THEN s.path END, fr.line,
    CASE f.role WHEN 'runtime' THEN f.name ELSE '(no Python)' END,
    CASE t.confidence WHEN 'exact' THEN t.name ELSE '(no object)' END
  FROM mark m JOIN allocation a ON a.alloc_ns <= m.ns AND (a.free_ns IS NULL OR a.free_ns > m.ns)
  JOIN stack st ON st.id = a.stack_id LEFT JOIN frame fr ON fr.id = st.user_frame_id
  LEFT JOIN function f ON f.id = fr.function_id LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN type t ON t.id = a.type_id
  WHERE m.name = 'built'"""


def table(title, sums, rows):
    """Prints the largest sums, with their share of all."""
    everything = sum(size for size, _ in sums.values())
    print("\n| " + " | ".join(title) + " | bytes | share | blocks |\n|" + " --- |" * len(title) + " ---: | ---: | ---: |")
    for key, (size, count) in sorted(sums.items(), key=lambda item: -item[1][0])[:rows]:
        names = " | ".join("`%s`" % name if name[0] not in "(0123456789" else name for name in key)
        print("| %s | %s | %.1f %% | %s |" % (names, f"{size:,}", 100 * size / everything, f"{count:,}"))


def add(sums, key, size):
    before = sums.get(key, (0, 0))
    sums[key] = (before[0] + size, before[1] + 1)


def compare(told, kind):
    """Says how the program's own word for a block and the recorder's word differ. The recorder names the module of a
    type of the interpreter."""
    if "(no object)" in (told, kind):
        return ("(neither)" if told == kind else "(the program alone)" if kind == "(no object)" else "(the recorder alone)")
    return "(both, the same type)" if told == kind.split(".")[-1] else "(both, another type)"


def main(session, types):
    with open(types, newline="", encoding="utf-8") as file:
        type_of = {int(address): name for address, name in csv.reader(file)}
    by_line, by_type, by_both, agreement = {}, {}, {}, {}
    for size, address, path, line, function, kind in sqlite3.connect("file:%s?mode=ro" % session, uri=True).execute(LINES):
        told = next((type_of[address + gap] for gap in (0, 16, 32) if gap < size and address + gap in type_of), "(no object)")
        add(agreement, (compare(told, kind),), size)
        place = "%s:%s" % ("/".join(path.split("/")[-2:]), line) if path else "(no Python)"
        add(by_line, (function, place), size)
        add(by_type, (kind,), size)
        add(by_both, (function, kind), size)
    table(("function", "line"), by_line, 5)
    table(("type",), by_type, 6)
    table(("function", "type"), by_both, 10)
    table(("an object says",), agreement, 5)
    print("\n| live bytes | blocks |\n| ---: | ---: |\n| %s | %s |" % tuple(
        f"{sum(entry[i] for entry in by_line.values()):,}" for i in (0, 1)))


main(*sys.argv[1:])
