#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# One name is one measure: of the same allocations it is the same number in the browser, in reports, in
# exports, in SQL and in the filter language.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
record() { # NAME COMMAND…
    local name=$1
    shift
    mprof-run -q -o "$name.bin" -- "$@" >out.txt 2>&1
    mprof-ingest -q -o "$name.db" "$name.bin" || fail "$name is not ingested"
}
record later_peak "$MPROF_BUILD/tests/later_peak"
record leaking "$MPROF_BUILD/tests/graphs/leaking_requests"
record threads "$MPROF_BUILD/tests/graphs/handed_over"
record run sh -c "ls / | sort | tail -1; '$MPROF_BUILD/tests/later_peak'"
python3 "$MPROF_SOURCE/tests/report/measures.py" later_peak.db leaking.db threads.db run.db \
    "$MPROF_BUILD/tests/readers/sessions/arena.db" || fail "measures"
# Blocks that a suppression of one face names still count as leaked in all faces.
printf 'leak:^late$\n' >later_peak.supp
python3 "$MPROF_SOURCE/tests/report/measures.py" later_peak.db || fail "measures beside a file of suppressions"
