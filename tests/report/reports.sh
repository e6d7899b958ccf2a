#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# All reports against SQL and against their schema, on all sessions, hostile names included.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
sessions=$MPROF_BUILD/tests/readers/sessions
mprof-run -q -o pinned.bin -- "$MPROF_BUILD/tests/graphs/pinned_heap" >pinned.out 2>&1 || fail "recording"
mprof-ingest -q -o pinned.db pinned.bin || fail "ingest"
python3 "$MPROF_SOURCE/tests/report/reports.py" "$sessions/hostile.db" \
    "$sessions"/{arena,forks,sampled,shop}.db pinned.db "$sessions/widgets.db" || fail "reports"
