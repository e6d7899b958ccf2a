#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Blocks with mappings of their own leave no holes when they are freed: the holes of all faces are at most what the
# allocator itself calls free, and the same in all faces.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
fact() { python3 -c 'import json, sys; print(json.load(open("report.json"))["facts"][sys.argv[1]])' "$1"; }
for options in "16 200000 131072" "64 200000 131072" "4096 150000 131072" "2097152 3000000 131072" \
    "2097152 4096 131072" "16 40000 16384" "64 40000 32768" "4096 40000 16384"; do
    # shellcheck disable=SC2086
    rm -f holes.bin
    mprof-run -q -o holes.bin -- "$MPROF_BUILD/tests/mapped_holes" $options >free.txt 2>err.txt || fail "recording"
    mprof-ingest -q -f -o session.db holes.bin || fail "ingest"
    mprof-report fragmentation --at end --format json session.db >report.json || fail "report"
    free=$(cat free.txt)
    holes=$(fact hole_bytes)
    is "$holes" -le "$free" "holes of $options"
    is "$holes" -ge 60000 "holes of small blocks beside $options"
    is "$(fact unknown_bytes)" -gt 0 "gaps that are not known of $options"
    pins=$(sqlite3 session.db ".load $MPROF_BUILD/lib/mprof_sqlite" \
        "SELECT value FROM graph('live at end | where pins >= 1K | sum pins')")
    is "$pins" -le $((2 * free)) "pins of $options"
    printf 'key 2 End 3 h\nkey :\ntype w! holes.csv\nkey Enter\ndump\n' >keys
    mprof-tui --fresh --script keys --size 200x60 session.db >screen.txt || fail "the browser failed"
    listed=$(python3 -c 'import csv; print(sum(int(row["hole_bytes"]) for row in csv.DictReader(open("holes.csv"))))')
    is "$listed" -eq "$holes" "holes in the browser"
done
