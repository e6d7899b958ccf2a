# SPDX-License-Identifier: BSD-2-Clause
"""types_table.py SESSION TYPES NAME: compares the types of the blocks that are live at the mark "told" with those that
many_types.py has told. An object begins at its block, or after the 16 bytes that the garbage collector needs, or after 16 more where its attributes may lie in a dict."""
import collections
import csv
import sqlite3
import sys

# Blocks whose size is that of the object: it has nothing elsewhere.
WHOLE = ("Slots", "float", "bytes", "tuple", "complex", "function", "method")
MANY = ("Row", "Text", "Numbers", "bytearray", "array", "OrderedDict", "deque", "generator", "set", "frozenset",
        "list", "dict", "str", "memoryview", "type", "int") + WHOLE
BLOCKS = """SELECT a.address, a.size, t.name, t.confidence FROM mark m JOIN allocation a ON a.alloc_ns <= m.ns
    AND (a.free_ns IS NULL OR a.free_ns > m.ns) LEFT JOIN type t ON t.id = a.type_id WHERE m.name = 'told'"""


def main(session, types, name):
    failed = 0
    blocks = {row[0]: row[1:] for row in sqlite3.connect(session).execute(BLOCKS)}
    objects, static, wrong, sizes = collections.Counter(), collections.Counter(), [], collections.Counter()
    with open(types, newline="", encoding="utf-8") as file:
        for address, kind, size in csv.reader(file):
            found = [blocks[int(address) - gap] for gap in (0, 16, 32) if int(address) - gap in blocks]
            exact = [block for block in found if block[2] == "exact" and block[1].split(".")[-1] == kind]
            if not found:
                static[kind] += 1  # in the program itself
                continue
            objects[kind] += 1
            if not exact:
                wrong.append((address, kind, found))
            elif kind in WHOLE:
                sizes[kind] += exact[0][0] - int(size)
    if wrong:
        print(f"{name}: {len(wrong)} types differ: {wrong[:5]}")
        failed = 1
    for kind in MANY:
        if objects[kind] < 60 or sizes[kind] != 0:
            print(f"{name}: {objects[kind]} objects of {kind}, {static[kind]} without a block, {sizes[kind]} bytes too many")
            failed = 1
    print(f"{name}: {sum(objects.values())} objects of {len(objects)} types")
    return failed


sys.exit(main(*sys.argv[1:]))
