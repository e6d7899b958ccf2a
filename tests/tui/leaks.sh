#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The view of leaks on a recorded C++ program: one key shows what leaks and from where, with numbers
# as SQL has them. A suppression is written by a key, holds in the view and for mprof-ingest, and is
# taken out by the same key.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

screen() { # SIZE KEYS…: the screens at each "dump"
    local size=$1
    shift
    printf '%s\n' "$@" >keys
    mprof-tui --script keys --size "$size" leaks.db >screen.txt || fail "the browser failed: $*"
}
has() { # WHAT PATTERN
    if grep -qE "$2" screen.txt; then echo "ok: $1"; else
        echo "$1: no line has $2"
        cat screen.txt
        failed=1
    fi
}

mprof-run --quiet -o leaks.bin "$MPROF_BUILD/tests/graphs/leaking_requests" >out.txt
mprof-ingest --quiet -o leaks.db leaks.bin
# On a loaded machine no request may fall into one of the tenths.
tenths=$(ask leaks.db "SELECT count(DISTINCT min(9, alloc_ns * 10 / value)) FROM v_allocation, meta
    WHERE key = 'duration_ns' AND free_ns IS NULL AND function GLOB 'handle_request*'")
is "$tenths" -ge 8 "tenths of the run with a leak"
screen 120x40 'key 7' dump
has "the leak, its type, and that it is steady" "117K .* 1,000 +120 +handle_request.* Header\\? +leak +steady, $tenths of 10"
has "what was allocated at the start is early" '313K .* 8 .*load_table.* early leak'
has "the runtime's pool is not a leak" '7[12].0K .* 1 .*runtime'
has "the whole stack" '^ main +leaking_requests.cpp:'
# The later leaks by SQL: a leak is early if all of its stack and type were allocated in the first tenth of the run.
sqlite3 -separator ' ' leaks.db "WITH live AS (SELECT s.id AS stack, a.size, a.type_id,
        max(a.alloc_ns) OVER (PARTITION BY s.id, a.type_id) AS last
        FROM allocation a JOIN stack s ON s.id = a.stack_id WHERE a.free_ns IS NULL
        AND a.stack_id NOT IN (SELECT stack_id FROM runtime_stack))
    SELECT round(sum(size) / 1024.0), count(*), count(DISTINCT type_id) FROM live
    WHERE last > (SELECT value / 10 FROM meta WHERE key = 'duration_ns')" >sql.txt
[ "$(cat sql.txt)" = "117.0 1000 1" ] || fail "the program leaks something else: $(cat sql.txt)"
has "the totals of SQL" '^ leaked 430 KiB in 1,016 blocks of 3 groups · early 313 KiB · runtime 7[12].0 KiB'

# The report and the graph behind the overview's findings take the same blocks for leaks.
later=$(mprof-report leaks --format json leaks.db | python3 -c 'import json, sys; print(json.load(sys.stdin)["facts"]["later_bytes"])')
is "$later" -eq 120000 "the report"
printf 'graph: leaks_by_user | ungroup | sum size == 120000\n' >leaks.budgets
mprof-report --check=leaks.budgets leaks.db >budgets.txt || fail "the graph: $(cat budgets.txt)"

# Enter lists exactly the blocks of the group.
screen 120x40 'key 7' 'key Enter' dump
has "the filter of the group" '1,000 of 1,817 allocations'

screen 200x60 'key 7' 'key X' dump
has "the line that was added" 'suppressed this group alone: leak:\^handle_request\(\)\$ is added to leaks.supp'
has "what the file suppresses" '^ leaked 430 KiB .* early 313 KiB · suppressed here 117 KiB'
has "the pattern beside the group" 'by: \^handle_request\(\)\$'
[ "$(cat leaks.supp)" = '# 117 KiB in 1,000 blocks
leak:^handle_request()$' ] || fail "the file has $(cat leaks.supp)"
mprof-ingest --quiet --suppressions=leaks.supp -o other.db leaks.bin
[ "$(sqlite3 other.db "SELECT pattern, live_count, live_bytes FROM v_suppression")" = '^handle_request()$|1000|120000' ] ||
    fail "mprof-ingest does not take the file"
screen 120x40 'key 7' 'key End' 'key Up' 'key X' dump
has "the same key takes it out" 'no longer suppressed: leak:\^handle_request\(\)\$ is taken out of leaks.supp'
has "the leak is back" '^ leaked 430 KiB in 1,016 blocks of 3 groups · early 313 KiB · runtime'
[ -s leaks.supp ] && fail "the file still has $(cat leaks.supp)"

# The frame of a group that takes the fewest bytes of others is chosen, and these bytes are told.
mv leaks.db one.db
"$MPROF_BUILD/tests/make_session" leaks.db 20000 400 150 4 1 >make.txt
screen 200x400 'key 7' 'key X' dump
more=$(sed -n 's/.*suppressed this group and \([0-9]*\) others, .*/\1/p' screen.txt)
taken=$(grep -c ' suppressed  ' screen.txt)
if [ "$taken" -gt 1 ] && [ "$taken" = "$((${more:-0} + 1))" ]; then echo "ok: what else it takes"; else
    fail "the suppression takes $taken groups, not ${more:-0} and this one"; fi
rm leaks.supp && mv one.db leaks.db

# While the program is recorded, nothing is called a leak.
cp leaks.db finished.db
sqlite3 leaks.db "INSERT OR REPLACE INTO meta VALUES ('unfinished', 1)"
screen 160x24 'key 1' dump 'key 8 Enter' dump
has "the first screen while recording" '· live now 50[12] KiB in 1,017'
grep -q 'at the end' screen.txt && fail "a recording that goes on has no end: $(cat screen.txt)"
screen 160x24 'key 7' 'key X' dump
has "live blocks while recording" '^ live so far .*the program still runs: nothing is known of leaks'
has "no suppression while recording" 'nothing is known of leaks while the program runs'
sed -n '4,$p' screen.txt | grep -v 'nothing is known' | grep -qE 'leaked| leak |early' && fail "a live block is called a leak"
sqlite3 leaks.db "DELETE FROM meta WHERE key = 'unfinished'; UPDATE meta SET value = 'stopped' WHERE key = 'ending'"
screen 160x24 'key 7' dump 'key 1' dump
has "live blocks of a stopped recording" '^ live when the recording stopped 430 KiB in 1,016 blocks of 3 groups'
has "the first screen of a stopped recording" 'live when the recording stopped in 1,017 blocks'
sed -n '4,$p' screen.txt | grep -qE 'leaked| leaks? |early|never freed' && fail "a live block of a stopped recording is called a leak"
mv finished.db leaks.db

# A suppression of mprof-ingest is not in the file. A line that is not a suppression is named.
mv other.db leaks.db
printf 'leak:zz\nnot a suppression\n' >leaks.supp
screen 120x40 'key 7' dump 'key End' 'key X' dump
has "a suppression of mprof-ingest stays" 'comes from mprof-ingest: it is not in leaks.supp'
has "a line that is not a suppression" 'leaks.supp:2: no suppression of leaks: left out'
rm leaks.supp && mkfifo leaks.supp
screen 120x40 'key 7' dump
has "a FIFO is not a file of suppressions" 'not a file of suppressions'
has "the leaks are shown all the same" 'handle_request'
exit "${failed:-0}"
