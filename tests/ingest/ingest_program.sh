#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-ingest as a program: names of files, refusals, interruption, and a session whose columns,
# sums and views agree with its rows.
set -u
ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf program && mkdir program && cd program || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

expect() { # STATUS PATTERN COMMAND...: the exit status, and its text on stderr or stdout
    local status=$1 pattern=$2 got
    shift 2
    "$@" >out.txt 2>&1
    got=$?
    [ $got -eq "$status" ] || complain "status $got, not $status: $*: $(cat out.txt)"
    grep -qE "$pattern" out.txt || complain "no '$pattern': $*: $(cat out.txt)"
}

"$MPROF_BUILD/tests/synthetic_trace" small.bin 150000 3 500 || exit 1

expect 2 'no trace named' "$ingest"
expect 2 'several traces' "$ingest" --dump small.bin small.bin
expect 2 'lists the options' "$ingest" --nonsense small.bin
expect 2 'none, stack or all' "$ingest" --index=some small.bin
expect 2 'file or time' "$ingest" --dump=size small.bin
expect 2 'replace the trace' "$ingest" --force -o small.bin small.bin
expect 0 '^usage:' "$ingest" --help
expect 0 '^mprof-ingest [0-9]' "$ingest" --version
expect 1 'cannot be opened' "$ingest" missing.bin
expect 1 'cannot be created' "$ingest" -o /nonexistent/x.db small.bin
expect 2 'no process of the session is called "other"' "$ingest" --process other small.bin
[ ! -e missing.db ] && [ ! -e small.db ] || complain "a session appeared"

expect 0 '^allocations  150,000, ' "$ingest" small.bin
[ "$(wc -l <out.txt)" -eq 10 ] || complain "the summary has not ten lines: $(cat out.txt)"

plan() { # SESSION PATTERN CONDITION: how SQLite finds the allocations of v_allocation, before the stacks
    sqlite3 "$1" "EXPLAIN QUERY PLAN SELECT sum(size), max(function) FROM v_allocation
        WHERE $3" >out.txt
    grep -E '(SCAN|SEARCH) (a|st)( |$)' out.txt | head -1 | grep -qE "^.--$2" || complain "no plan '$2' for $3 in $1: $(cat out.txt)"
}
"$ingest" --quiet --index=stack -o indexed.db small.bin || complain "--index=stack"
for session in small.db indexed.db; do
    for condition in "function = 'f'" "unlikely(function LIKE '%f%')" "unlikely(file = 'f.c')" \
            "function = 'f' AND size > 100" "size > 100" "size BETWEEN 90 AND 100" "lifetime_ns < 1000" \
            "alloc_ns <= 500 AND (free_ns IS NULL OR free_ns > 500)" "address > 4096" "free_ns IS NULL" \
            "+stack_id IN (SELECT stack_id FROM v_stack_total WHERE function = 'f')" \
            "size = 100" "thread_id = 1" "thread = 't'" "kind = 'calloc'" "address = 4096"; do
        plan $session 'SCAN a$' "$condition"
    done
    plan $session 'SEARCH a USING INTEGER PRIMARY KEY' "id = 7"
done
for condition in "type = 't'" "stack_id IN (SELECT stack_id FROM v_stack_total WHERE function = 'f')"; do
    plan small.db 'SCAN a$' "$condition"
done
plan indexed.db 'SEARCH a USING INDEX allocation_stack \(stack_id=\?\)' "stack_id = 7"
plan indexed.db 'SEARCH a USING INDEX allocation_stack .*stack_id.* AND type_id=\?\)' "type_id = 5"
cp small.db before.db
expect 1 'exists already' "$ingest" small.bin
cmp -s small.db before.db || complain "a refused run changed the session"
# part PID: the name of a file that process PID makes beside small.db.
part() { printf 'small.db.part.%d.0123456789ab' "$1"; }
: >"$(part "$(sh -c 'echo $$')")"
"$ingest" --force --quiet small.bin >out.txt 2>&1 || complain "--force does not replace"
[ ! -s out.txt ] || complain "--quiet is not: $(cat out.txt)"
cmp -s small.db before.db || complain "the same trace gave another session"
[ -z "$(ls small.db.part* 2>/dev/null)" ] || complain "left behind: $(ls small.db.part*)"
: >"$(part $$)"
flock -x "$(part $$)" -c "'$ingest' --force small.bin" >out.txt 2>&1
[ $? -eq 1 ] && grep -q 'another mprof-ingest' out.txt || complain "a locked part was taken: $(cat out.txt)"
rm -f small.db.part*

# Everything derived from the rows can be made again, and is then as it was.
cp small.db rebuilt.db
sqlite3 rebuilt.db "DELETE FROM column_chunk WHERE id % 3 = 1; DELETE FROM packed_array WHERE id % 2; UPDATE packed_array SET data = x'00'; UPDATE column_chunk SET min = min + 1;
    DELETE FROM timeline; DELETE FROM function_total; DELETE FROM type_total; DELETE FROM size_bin;
    UPDATE stack SET allocations = 7, bytes = 7, live_count = 7, live_bytes = 7, at_peak_count = 7,
        at_peak_bytes = 7, peak_bytes = 7, peak_ns = 7, lifetime_ns = 7;
    UPDATE thread SET allocations = 7, frees = 7, bytes = 7;
    UPDATE process SET allocations = 7, frees = 7, bytes = 7, live_count = 7, live_bytes = 7, peak_bytes = 7, peak_ns = 7;
    UPDATE meta SET value = 7 WHERE key GLOB 'peak_*' OR key GLOB 'live_*' OR key = 'bytes_allocated';"
expect 2 'without -o' "$ingest" --rebuild -o other.db rebuilt.db
expect 1 'not a session' "$ingest" --rebuild /usr/bin/env
expect 0 'computed again' "$ingest" --rebuild rebuilt.db
sqlite3 small.db .dump | sort >small.dump
sqlite3 rebuilt.db .dump | sort | cmp - small.dump || complain "a rebuilt session is another one"
"$MPROF_BUILD/bin/mprof-run" --quiet -o arena.bin -- "$MPROF_BUILD/tests/arena" >out.txt && expect 0 '' "$ingest" arena.bin
cp arena.db arena-rebuilt.db
sqlite3 arena-rebuilt.db "UPDATE arena SET allocations = 7, objects = 7, bytes = 7, live_count = 7, live_bytes = 7, peak_bytes = 7, peak_ns = 7"
expect 0 'computed again' "$ingest" --rebuild arena-rebuilt.db
[ "$(sqlite3 arena.db 'SELECT sum(peak_bytes) FROM arena')" -gt 7 ] || complain "no arena"
[ "$(sqlite3 arena.db 'SELECT count(*) > 0 FROM allocation WHERE address_code & 1')" = 1 ] || complain "no address between two places"
cmp -s <(sqlite3 arena-rebuilt.db .dump | sort) <(sqlite3 arena.db .dump | sort) || complain "rebuilt arenas are others"
# Addresses that have no place are stored whole.
"$MPROF_BUILD/tests/synthetic_trace" high.bin 3000 1 10 65536 0xffff800000000003 || exit 1
expect 0 '' "$ingest" high.bin
cp high.db high-rebuilt.db
expect 0 'computed again' "$ingest" --rebuild high-rebuilt.db
cmp -s <(sqlite3 high-rebuilt.db .dump | sort) <(sqlite3 high.db .dump | sort) || complain "rebuilt high addresses are others"
[ "$(sqlite3 high.db "SELECT count(*), printf('%x', min(address) & ~0xffffff) FROM allocation WHERE whole_address NOTNULL")" = \
    '3000|ffff800000000000' ] || complain "high addresses: $(sqlite3 high.db "SELECT count(*), printf('%x', min(address)) FROM allocation")"
for table in packed_array sample_chunk slot_sum tile; do
    cp small.db earlier.db
    sqlite3 earlier.db "DROP TABLE $table"
    expect 1 'earlier.db: is a session of another version of mprof; ingest the trace again' "$ingest" --rebuild earlier.db
done
# A file from elsewhere may have a view without end in place of a table.
cp small.db endless.db
sqlite3 endless.db "ALTER TABLE meta RENAME TO hidden; CREATE VIEW meta AS
    WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS key, n AS value FROM r"
expect 1 'is a session of another version' timeout 100 "$ingest" --rebuild endless.db
sqlite3 rebuilt.db "UPDATE allocation SET lived_ns = -1 WHERE id = 77"
expect 1 'row 77: freed before' "$ingest" --rebuild rebuilt.db
[ "$(sqlite3 rebuilt.db 'SELECT count(*) FROM timeline')" -gt 1 ] || complain "a failed rebuild left its mark"

# An unfinished trace is normal. One line says so.
head -c 200000 small.bin >cut.bin
printf '\0\0\0\0' | dd of=cut.bin bs=1 seek=88 conv=notrunc status=none
expect 0 'not closed: the program was killed' "$ingest" -o cut.db cut.bin

# If ingest is interrupted or killed, no session appears, and the next run takes over the part file.
"$MPROF_BUILD/tests/synthetic_trace" large.bin 1500000 || exit 1
for signal in INT KILL; do
    # A background job of a script ignores SIGINT. env restores it.
    env --default-signal=INT "$ingest" --quiet large.bin &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$(stat -c %s large.db.part.* 2>/dev/null | sort -n | tail -1 | grep . || echo 0)" -lt 100000 ]; do :; done
    kill -$signal $pid || complain "ended before SIG$signal came"
    wait $pid 2>/dev/null
    status=$?
    [ $status -eq $((128 + $(kill -l $signal))) ] || complain "SIG$signal gave status $status"
    [ ! -e large.db ] || complain "SIG$signal left a session"
    [ $signal = KILL ] || [ -z "$(ls large.db.part* 2>/dev/null)" ] || complain "SIGINT left $(ls large.db.part*)"
done
rm -f large.bin large.db.part*

# Columns, sums and views, compared with the rows.
python3 - small.db <<'PYTHON' || failed=1
import sqlite3, struct, sys
db = sqlite3.connect(sys.argv[1])
one = lambda sql: db.execute(sql).fetchone()
same = lambda what, a, b: a == b or sys.exit(f'{what}: {a} != {b}')
meta = dict(db.execute('SELECT key, value FROM meta'))
same('integrity', one('PRAGMA integrity_check')[0], 'ok')
same('rows', one('SELECT count(*), min(id), max(id), sum(size) FROM allocation'),
     (meta['rows'], 1, meta['rows'], meta['bytes_allocated']))
same('live', one('SELECT count(*), sum(size) FROM allocation WHERE free_ns IS NULL'),
     (meta['live_count_end'], meta['live_bytes_end']))
for table in 'stack', 'type_total':
    same(table, one(f'SELECT sum(allocations), sum(bytes), sum(live_count), sum(live_bytes) FROM {table}'),
         (meta['allocations'], meta['bytes_allocated'], meta['live_count_end'], meta['live_bytes_end']))
same('at peak', one('SELECT sum(at_peak_bytes), sum(at_peak_count) FROM stack'),
     (meta['peak_bytes'], meta['peak_count']))
same('functions', one('SELECT sum(self_bytes), sum(self_count), sum(live_bytes), sum(at_peak_bytes) FROM v_function'),
     (meta['bytes_allocated'], meta['allocations'], meta['live_bytes_end'], meta['peak_bytes']))
same('total', db.execute('''SELECT max(total_bytes) FROM v_function''').fetchone()[0], meta['bytes_allocated'])
same('sizes', one('SELECT sum(bytes), sum(frees), sum(live_bytes) FROM v_size_bin'),
     (meta['bytes_allocated'], meta['frees'], meta['live_bytes_end']))
same('short-lived', db.execute('SELECT function_id, short_lived FROM function_total WHERE short_lived > 0 ORDER BY 1').fetchall(),
     db.execute('''SELECT s.function_id, count(*) FROM allocation a JOIN stack s ON s.id = a.stack_id
         WHERE a.free_ns - a.alloc_ns < 1000000 AND s.function_id > 0 GROUP BY 1 ORDER BY 1''').fetchall())
same('some were short-lived', one('SELECT sum(short_lived) > 0 FROM v_function')[0], 1)
same('types at the peak', one('SELECT sum(at_peak_bytes), sum(at_peak_count) FROM v_type'), (meta['peak_bytes'], meta['peak_count']))
same('sizes at the peak', one('SELECT sum(at_peak_count * size), sum(at_peak_count) FROM v_size_bin'), (meta['peak_bytes'], meta['peak_count']))
same('peaks of types', db.execute('SELECT type_id, peak_bytes FROM type_total ORDER BY 1').fetchall(),
     db.execute('''SELECT type_id, max(live) FROM (SELECT type_id, sum(bytes) OVER (PARTITION BY type_id ORDER BY ns, turn, id
         ROWS UNBOUNDED PRECEDING) AS live FROM (SELECT type_id, id, alloc_ns AS ns, 1 AS turn, size AS bytes FROM allocation
         UNION ALL SELECT type_id, id, free_ns, 2 * (free_ns = alloc_ns), -size FROM allocation WHERE free_ns > 0))
         GROUP BY 1 ORDER BY 1''').fetchall())
same('timeline', one('SELECT sum(allocated_bytes), sum(freed_bytes) FROM v_timeline'),
     (meta['bytes_allocated'], meta['bytes_allocated'] - meta['live_bytes_end']))
same('threads', one('SELECT sum(allocations), sum(frees) FROM thread'), (meta['allocations'], meta['frees']))
same('view', one('SELECT count(*), sum(size) FROM v_allocation'), (meta['rows'], meta['bytes_allocated']))
same('lifetimes', one('SELECT sum(lifetime_ns) FROM stack'),
     one('SELECT sum(free_ns - alloc_ns) FROM allocation'))
same('realloc', one('SELECT count(*) FROM allocation a JOIN allocation b ON b.id = a.realloc_of WHERE b.free_ns <= a.alloc_ns AND b.address = a.address'),
     (meta['reallocs'],))

def unpack(data, rows):
    """Reads the blocks of a chunk, as schemas/columns.md tells."""
    out, at = [], -(-rows // 1024) * 12
    for first in range(0, rows, 1024):
        n = min(1024, rows - first)
        head = first // 1024 * 12
        base = int.from_bytes(data[head:head + 8], 'little')
        facts = int.from_bytes(data[head + 8:head + 12], 'little')
        bits, shift, delta, size, count = facts & 127, facts >> 7 & 63, facts >> 13 & 1, facts >> 14 & 15, facts >> 18
        values = [0] * n
        for low, plane in (0, min(bits, 32)), (32, bits - min(bits, 32)):
            words = -(-(-(-n // 32) * plane) // 32)
            lanes = [sum(int.from_bytes(data[at + 128 * w + 4 * lane:at + 128 * w + 4 * lane + 4], 'little') << 32 * w
                         for w in range(words)) for lane in range(32)]
            for i in range(n):
                values[i] |= (lanes[i % 32] >> i // 32 * plane & (1 << plane) - 1) << low
            at += 128 * words
        for i in range(count):
            row = int.from_bytes(data[at + 2 * i:at + 2 * i + 2], 'little')
            rest = at + 2 * count + size * i
            values[row] |= int.from_bytes(data[rest:rest + size], 'little') << bits
        at += count * (2 + size)
        for i in range(n):
            values[i] = (values[i] << shift) + (values[i - 1] if delta and i > 0 else 0)
        out += [(base + v) % 2**64 for v in values]
    assert at + 8 == len(data) and data[at:] == bytes(8), (at, len(data))
    return out

names = ['address', 'size', 'coalesce(free_ns, alloc_ns)', 'coalesce(free_ns - alloc_ns + 1, 0)', 'stack_id', 'thread_id',
         'coalesce(free_thread_id, 0)', 'kind', 'type_id', 'arena_id', 'count', 'alignment',
         'coalesce(realloc_of, 0)', 'coalesce(free_stack_id, 0)']
for number, name in enumerate(names):
    values = []
    for rows, low, data in db.execute(
            'SELECT rows, min, data FROM column_chunk WHERE id % 32 = ? ORDER BY id', (number,)):
        values += unpack(data, rows) if data else [low] * rows
    same(f'column {name}', values, [row[0] for row in db.execute(f'SELECT {name} FROM allocation ORDER BY id')])
same('chunks', one('SELECT count(*), sum(rows) FROM column_chunk'), (14 * 3, 14 * meta['rows']))
# Rows end after their last value that is not the default, and columns hold few bits.
payload = one("SELECT sum(payload) FROM dbstat WHERE name = 'allocation' AND pagetype = 'leaf'")[0] / meta['rows']
data = one('SELECT sum(length(data)) FROM column_chunk')[0] / meta['rows']
same('short rows', payload < 26 or payload, True)
same('small columns', data < 13 or data, True)
PYTHON
exit $failed
