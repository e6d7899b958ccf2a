#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A sample takes the same blocks of an arena whether the program asks before it tells of a block or not.
# Nothing is left out if all is recorded.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
cc -g -O1 -I"$MPROF_SOURCE/capture" -o sampled_blocks "$MPROF_SOURCE/tests/capture/arenas/sampled_blocks.c" || exit 1
export MPROF_TEST_SEED=5
# record NAME OPTIONS…: runs the program with the word NAME. The rows go to NAME.rows.
record() {
    local name=$1
    shift
    mprof-run --quiet --force "$@" -o "$name.bin" -- ./sampled_blocks "$name" >"$name.txt" || fail "status $?"
    mprof-ingest -q -f -o "$name.db" "$name.bin" || fail "ingest of $name.bin"
    kind=$name
    is "$(ask "$name.db" "SELECT sum(value) FROM meta WHERE key IN ('overlaps', 'unmatched_frees', 'double_frees', 'dropped_events')")" -eq 0 "what does not fit"
    ask "$name.db" "SELECT address - (SELECT min(address) FROM allocation WHERE arena_id > 0), size, free_ns IS NULL
        FROM allocation WHERE arena_id > 0 ORDER BY alloc_ns, id" >"$name.rows"
}
record tells --sample=4K
record asks --sample=4K
is "$(cat tells.txt)" -eq 0 "blocks left out without asking"
is "$(cat asks.txt)" -gt 190000 "blocks left out"
# The program makes 1.7 MB, so about 415 are taken.
is "$(wc -l <tells.rows)" -gt 300 "blocks taken"
is "$(wc -l <tells.rows)" -lt 540 "blocks taken"
cmp tells.rows asks.rows || fail "the sample depends on who asks"
record asks
is "$(cat asks.txt)" -eq 0 "blocks left out of a whole recording"
is "$(wc -l <asks.rows)" -eq 200000 "blocks of a whole recording"
./sampled_blocks asks >alone.txt || fail "status $? without a recorder"
is "$(cat alone.txt)" -eq 0 "blocks left out without a recorder"
exit "$failed"
