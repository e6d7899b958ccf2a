#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A trace that is rotated after a collection knows what that collection has left, in all places that tell it.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
cc -g -O1 -I"$MPROF_SOURCE/capture" -o kept_rotated "$MPROF_SOURCE/tests/capture/arenas/kept_rotated.c" || exit 1
coproc PROGRAM { mprof-run --quiet --sample=1 -o trace.bin -- ./kept_rotated; }
pid=$PROGRAM_PID from=${PROGRAM[0]} to=${PROGRAM[1]}
for _ in 1 2 3; do
    read -r -u "$from" || fail "the program has ended"
    mprof-ctl --quiet --wait=60 trace.bin rotate || fail "rotate"
    printf x >&"$to"
done
wait "$pid" || fail "status $?"

# trace TRACE WHEN COLLECTED KEPT ROWS: the blocks by size: live, kept.
trace() {
    local kept cells="arena_id = (SELECT id FROM arena WHERE name = 'cells')"
    kind=$1
    mprof-ingest -q -f -o session.db "$1" || fail "ingest of $1"
    expect "problems" "SELECT kind, detail FROM problem WHERE kind != 'live_at_exit'" ''
    expect "the arena" "SELECT CASE WHEN kept_ns < 0 THEN 'before' WHEN kept_ns >= 0 THEN 'inside' END, collected,
        kept_count, runtime_id IS NOT NULL FROM arena WHERE name = 'cells'" "$2|$3|$4|1"
    expect "what is kept" "SELECT size, sum(free_ns IS NULL), sum(kept) FROM v_allocation WHERE $cells GROUP BY size" "$5"
    is "$(sqlite3 session.db ".load $MPROF_BUILD/lib/mprof_sqlite" "SELECT sum(kept) FROM v_allocation WHERE $cells")" -eq "$4" "kept by the extension"
    is "$(mprof-tui --graph 'run survived | where arena == cells | count' session.db 2>&1 | sed -n 's/^count: \([0-9]*\).*/\1/p')" -eq "$4" "kept by a graph"
    kept=$(ask session.db "SELECT ifnull(sum(size), 0) FROM v_allocation WHERE $cells AND kept")
    mprof-report 1988 --filter 'all | where arena == cells' -o tables.txt session.db || fail "the tables of 1988"
    is "$(sed -n 's/^Total bytes that the last collection left: ~*//p' tables.txt)" -eq "$kept" "bytes in the tables of 1988"
}
trace trace.bin.r1 inside 4 6 '160|6|6
240|3|0
320|5|0'
# The last collection lies before the trace.
trace trace.bin.r2 before 0 5 '160|5|5
240|3|0
320|5|0
480|2|0'
# The first collection of another runtime goes on in the next trace, and ends there.
others() { # KNOWN COLLECTED KEPT ROWS: as above
    expect "the other arena" "SELECT CASE WHEN kept_ns < 0 THEN 'before' WHEN kept_ns >= 0 THEN 'inside' END, collected, kept_count
        FROM arena WHERE name = 'others'" "$1|$2|$3"
    expect "what is kept there" "SELECT size, sum(free_ns IS NULL), sum(kept) FROM v_allocation
        WHERE arena_id = (SELECT id FROM arena WHERE name = 'others') GROUP BY size" "$4"
}
others '' 2 4 '32|3|3
48|1|1'
# One more begins, and has not ended. Its blocks of 640 bytes came while it went on.
trace trace.bin.r3 before 0 5 '160|5|5
240|3|0
320|5|0
480|2|0
640|3|0'
others before 0 3 '32|3|3
48|1|0'
trace trace.bin before 1 14 '160|5|5
240|2|2
320|5|5
480|2|2
560|1|0
640|3|0'
expect "the collection that goes on" "SELECT begin_ns, end_ns IS NOT NULL FROM collection" '0|1'
exit "$failed"
