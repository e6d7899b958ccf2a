#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# All reports against SQL and against their schema, on all sessions, hostile names included.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
sessions=$MPROF_BUILD/tests/readers/sessions
python3 "$MPROF_SOURCE/tests/report/reports.py" "$sessions/hostile.db" \
    "$sessions"/{arena,database,forks,sampled,shop,widgets}.db || fail "reports"
