#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Blocks of an arena that go from thread to thread, and a collector's: their order is right and what was kept is
# known with every clock.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
cc -g -O1 -pthread -I"$MPROF_SOURCE" -o arena_order "$MPROF_SOURCE/tests/capture/arenas/arena_order.c" || exit 1

for clock in exact fast; do
    rm -f trace.bin session.db
    mprof-run --quiet --clock=$clock -o trace.bin -- ./arena_order || { echo "status $?"; failed=1; }
    mprof-ingest --quiet -o session.db trace.bin || failed=1
    expect "clock=$clock: problems" "SELECT kind, count(*) FROM problem WHERE kind != 'live_at_exit' GROUP BY kind" ''
    expect "clock=$clock: blocks and their ends" "SELECT size, count(*), sum(freed_by IS NOT NULL),
        sum(ifnull(freed_by, '') = 'collector'), sum(thread_id = free_thread_id), max(kept) FROM v_allocation
        WHERE arena_id > 0 GROUP BY size" '1|1|0|0||1
7|1|0|0||1
9|1|0|0||0
50|4040|4040|0|4040|0
100|50|50|0|0|0
200|50|50|50|50|0
300|50|50|0|0|0'
done
exit "$failed"
