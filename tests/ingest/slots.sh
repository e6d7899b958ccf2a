#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The sums by time (schemas/slots.md), read here by a reader of their own, compared with the rows: of
# one trace, made again from the rows, and of two traces together.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
complain() { echo "$*"; failed=1; }

cat >compare.py <<'PYTHON'
import bisect, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
meta = dict(db.execute('SELECT key, value FROM meta'))
width = meta['slot_ns']
assert width == meta['duration_ns'] // 65536 + 1, width
tiles = {address: id for id, address in db.execute('SELECT id, address FROM tile')}

def numbers(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0

def cells(key, data):
    lengths, at, slots = numbers(data), 0, []
    for _ in range(256):
        slots.append(next(lengths))
    body = data[len(data) - sum(slots):]
    for slot, length in enumerate(slots):
        values, number = numbers(body[at:at + length]), -1
        at += length
        for skipped in values:
            number += skipped + 1
            allocated = next(values)
            allocated_bytes = next(values) if allocated else 0
            freed = next(values)
            freed_bytes = next(values) if freed else 0
            rise = next(values) if key == 'all' else 0
            yield slot, number, (allocated, allocated_bytes, freed, freed_bytes), rise

KEYS = {'all': '0', 'function': 'ifnull(s.function_id, 0)', 'type': 'a.type_id', 'tile': 'a.address & ~1048575',
        'size': 'a.size'}
def size_class(size):
    return 0 if size <= 1 else (size - 1).bit_length()
levels = 0
for key, slots in db.execute('SELECT DISTINCT key, slots FROM slot_sum').fetchall():
    should, length = {}, width * 65536 // slots
    for column, time in ((0, 'alloc_ns'), (2, 'free_ns')):
        for slot, number, count, size in db.execute(f'''SELECT {time} / {length}, {KEYS[key]}, count(*), sum(size)
                FROM allocation a JOIN stack s ON s.id = a.stack_id
                WHERE {time} IS NOT NULL AND arena_id = 0 GROUP BY 1, 2'''):
            number = size_class(number) if key == 'size' else tiles[number] if key == 'tile' else number
            sums = should.setdefault((slot, number), [0, 0, 0, 0])
            sums[column] += count
            sums[column + 1] += size
    live = 0
    for part, data in db.execute('SELECT part, data FROM slot_sum WHERE key = ? AND slots = ? ORDER BY part', (key, slots)):
        for slot, number, sums, rise in cells(key, data):
            slot += 256 * part
            expected = tuple(should.pop((slot, number)))
            assert sums == expected, (key, slots, slot, number, sums, expected)
            if key == 'all' and slot * length <= meta['peak_ns'] < (slot + 1) * length:
                assert live + rise == meta['peak_bytes'], (slot, live, rise)
                levels += 1
            live += sums[1] - sums[3]
    assert not should, (key, slots, len(should))
assert levels == int(sys.argv[2]), levels
PYTHON

"$MPROF_BUILD/tests/synthetic_trace" one.bin 100000 || exit 1
mprof-ingest --quiet one.bin || complain "is not ingested"
python3 compare.py one.db 2 || complain "one trace"
cp one.db again.db
sqlite3 again.db "DELETE FROM slot_sum; DELETE FROM tile; DELETE FROM meta WHERE key = 'slot_ns'"
mprof-ingest --quiet --rebuild again.db || complain "is not made again"
cmp -s <(sqlite3 one.db .dump | sort) <(sqlite3 again.db .dump | sort) || complain "made again it is another one"

"$MPROF_BUILD/tests/synthetic_trace" few.bin 10000 && mprof-ingest --quiet few.bin || complain "few are not ingested"
[ "$(sqlite3 few.db "SELECT (SELECT count(*) FROM slot_sum) + (SELECT count(*) FROM tile) + (SELECT count(*) FROM meta WHERE key = 'slot_ns')")" = 0 ] ||
    complain "few allocations have sums by time"

mprof-ingest --quiet -o both.db one.bin few.bin || complain "two traces are not ingested"
[ "$(sqlite3 both.db "SELECT count(*) FROM process")" = 2 ] || complain "not two processes"
python3 compare.py both.db 2 || complain "two traces"
exit $failed
