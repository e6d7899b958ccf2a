#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# All reports against SQL and against their schema, on all sessions, hostile names included.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
sessions=$MPROF_BUILD/tests/readers/sessions
mprof-run -q -o pinned.bin -- "$MPROF_BUILD/tests/graphs/pinned_heap" >pinned.out 2>&1 || fail "recording"
mprof-ingest -q -o pinned.db pinned.bin || fail "ingest"
# Eight tables of 40,000 bytes or a little more, with eight records of 24 bytes, stay from the start.
mprof-run -q -o leaking.bin -- "$MPROF_BUILD/tests/graphs/leaking_requests" >leaking.out 2>&1 || fail "recording"
mprof-ingest -q -o leaking.db leaking.bin || fail "ingest"
tables=$(sqlite3 leaking.db "SELECT sum(size) FROM v_allocation WHERE user = 'load_table(int)'")
[ "$tables" -gt 320000 ] && mprof-report leaks --format json leaking.db | grep -q "\"start_up_bytes\": $tables[,}]" ||
    fail "of the start: $(mprof-report leaks --format json leaking.db | head -n 20)"
python3 "$MPROF_SOURCE/tests/report/reports.py" "$sessions/hostile.db" \
    "$sessions"/{arena,forks,sampled,shop}.db pinned.db leaking.db "$sessions/widgets.db" || fail "reports"
