#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Gives a session of tests/make_session a snapshot of references: reference_rows.py SESSION [earlier]

The live blocks are a tree of two children each below one variable, with a list that hangs on its
first leaf. The last blocks hang on nothing, and two of them on each other. With a second word there
is a snapshot before it, at half of the time, whose blocks refer to others at random.
mprof-ingest --rebuild then makes the tables.
"""
import random
import sqlite3
import sys


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def delta(step):
    def zigzag(n):
        return n << 1 if n >= 0 else -n * 2 - 1
    return varint(zigzag(step // 16) << 1) if step % 16 == 0 else varint(zigzag(step) << 1 | 1)


def words(pairs):
    """Packs words as heap_words has them."""
    out, where, to = bytearray(varint(len(pairs))), 0, 0
    for at, target in sorted(pairs):
        out += varint((at - where) // 4) + delta(target - to)
        where, to = at, target
    return bytes(out)


def put_earlier(database, ns, variable):
    """Puts a snapshot of blocks that refer to others, to their middles too, at random."""
    rng = random.Random(3)
    blocks = database.execute(
        "SELECT address, size FROM allocation WHERE alloc_ns <= ? AND (free_ns IS NULL OR free_ns > ?) AND arena_id = 0"
        " AND size >= 24 AND thread_id IN (SELECT id FROM thread WHERE process_id = 1) ORDER BY address", (ns, ns)).fetchall()
    pairs = [(variable, blocks[0][0]), (variable + 8, blocks[-1][0] + 8)]
    for address, size in blocks:
        for place in rng.sample(range(0, size - 7, 8), rng.choice((0, 0, 1, 2, 3)) if size >= 48 else 1):
            target, length = rng.choice(blocks)
            pairs.append((address + place, target + rng.choice((0, 0, 0, length // 2))))
    low, high = min(b[0] for b in blocks), max(b[0] + b[1] for b in blocks)
    put_snapshot(database, 2, ns, "half", (low, high - low), variable, pairs)


def put_snapshot(database, id, ns, name, heap, variable, pairs):
    database.execute("INSERT INTO heap_snapshot VALUES (?,1,?,'end',?,0,1,1200000,?,0,?,NULL)",
                     (id, ns, name, heap[1], len(pairs)))
    database.execute("INSERT INTO heap_range VALUES (?,?,?,'rw-','heap','[heap]',0)", (id, *heap))
    database.execute("INSERT INTO heap_range VALUES (?,?,4096,'rw-','data','/usr/bin/app',0)", (id, 0x404000))
    database.execute("INSERT INTO heap_variable VALUES (?,?,8,'registry',NULL)", (id, variable))
    database.execute("INSERT INTO heap_words VALUES (?,0,?)", (id, words(pairs)))


def main():
    database = sqlite3.connect(sys.argv[1])
    end = int(database.execute("SELECT value FROM meta WHERE key = 'duration_ns'").fetchone()[0])
    blocks = database.execute(
        "SELECT address, size FROM allocation WHERE free_ns IS NULL AND arena_id = 0 AND size >= 24"
        " AND thread_id IN (SELECT id FROM thread WHERE process_id = 1) ORDER BY id").fetchall()
    alone, chain, variable = 30, 100, 0x404040
    tree = blocks[:len(blocks) - alone - chain]
    pairs = [(variable, tree[0][0])]
    for i, (address, _) in enumerate(tree):
        for side in (0, 1):
            if 2 * i + 1 + side < len(tree):
                pairs.append((address + 8 * side, tree[2 * i + 1 + side][0]))
    before = tree[len(tree) // 2][0] + 16
    for address, _ in blocks[len(tree):len(tree) + chain]:
        pairs.append((before, address))
        before = address
    pairs.append((blocks[-1][0], blocks[-2][0]))
    pairs.append((blocks[-2][0], blocks[-1][0]))
    pairs.append((blocks[-3][0], blocks[-4][0] + 8))
    low, high = min(b[0] for b in blocks), max(b[0] + b[1] for b in blocks)
    put_snapshot(database, 1, end, "end of program", (low, high - low), variable, pairs)
    if len(sys.argv) > 2:
        put_earlier(database, end // 2, variable)
    database.commit()


main()
