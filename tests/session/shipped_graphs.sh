#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Each graph that ships finds its fault in a C++ program that has it, and nothing in the same program
# without it. docs/graphs.md has the texts that ship, and no others.
set -u
rm -rf shipped && mkdir shipped && cd shipped || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

record() { # NAME PROGRAM ARGUMENT
    local options=()
    [ "$2" != half_cleared ] || options=(--free-stacks)
    [ "$2" != leaking_requests ] || options=(--references=end)
    "$MPROF_BUILD/bin/mprof-run" --quiet --force "${options[@]}" -o "$1.bin" -- "$MPROF_BUILD/tests/graphs/$2" "$3" &&
        "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o "$1.db" "$1.bin" || complain "$1: not recorded"
}

# The rows of a graph: keys, allocations, bytes, and more.
rows() { "$MPROF_BUILD/tests/print_graph" "$1" "$2" >rows.txt 2>&1; local status=$?; tail -n +3 rows.txt | tr '\t' '|'; return $status; }

# finds GRAPH PROGRAM EXPECTED: the rows of the faulty program match the expression; the healthy one has
# none that matches its part before the first bar.
finds() {
    local rows
    record "$2.healthy" "$2" healthy
    # Some faults show in the course of time. A program that the system stopped for long is run again.
    for attempt in 1 2 3; do
        record "$2.faulty" "$2" faulty
        rows=$(rows "$2.faulty.db" "$1")
        grep -qE -- "$3" <<<"$rows" && break
    done
    grep -qE -- "$3" <<<"$rows" || complain "$1 does not find $3 in $2: $(cat rows.txt)"
    rows=$(rows "$2.healthy.db" "$1") || complain "$1 in the healthy $2: $(cat rows.txt)"
    [ -n "$rows" ] && grep -qE -- "${3%%\\|*}" <<<"$rows" && complain "$1 finds in the healthy $2: $rows"
    found="$found ${1%%(*}"
}

found=
finds leaks_by_type leaked_sessions '^Session\|250\|'
finds leaks_by_user leaking_requests '^handle_request\(\)\|1000\|'
finds unreachable_by_user leaking_requests '^handle_request\(\)\|1000\|'
# A finding says so, and the guess by time is not made then. Without references it is the other way round.
findings() { "$MPROF_BUILD/bin/mprof-report" findings --format csv "$1" | cut -d, -f6,7 | grep handle_request | tr -d '"'; }
[ "$(findings leaking_requests.faulty.db)" = "unreachable,handle_request()" ] || complain "finding: $(findings leaking_requests.faulty.db)"
"$MPROF_BUILD/bin/mprof-run" --quiet -o unknown.bin -- "$MPROF_BUILD/tests/graphs/leaking_requests" faulty &&
    "$MPROF_BUILD/bin/mprof-ingest" --quiet unknown.bin || complain "leaking_requests: not recorded without references"
[ "$(findings unknown.db)" = "later leaks,handle_request()" ] || complain "finding: $(findings unknown.db)"
# Blocks that the function made once at the start do not leak.
finds leaks_by_user shared_factory '^make_entry\(\)\|(9[0-9]|100)\|'
finds 'grown(opened, closed)' growing_cache '^Thumbnail\|300\|307200\|'
finds steady_growers growing_registry '^open_window\(int\)\|'
finds kept_capacity kept_gestures '\|TouchPoint\|40\|655360\|'
finds histories undo_history '\|200\|'
finds storms token_storm '^parse\(.*\|(39|40)[0-9]{3}\|'
finds same_sizes same_tables 'Colors.*\|100024\|12\|'
finds 'pinned(idle)' pinned_heap 'make_note\(\)\|(9[0-9]|100)\|'
finds cross_thread handed_over '^Message\|2\|3\|2000\|'
finds ladders small_steps '\|500\|32064000\|'
rows small_steps.faulty.db ladders | grep -q '|43|4637716|' || complain "ladders lacks the reallocations: $(cat rows.txt)"
# The stack of a free is taken before the realloc, and so is its time.
"$MPROF_BUILD/bin/mprof-run" --quiet --free-stacks -o stacks.bin -- "$MPROF_BUILD/tests/graphs/small_steps" faulty &&
    "$MPROF_BUILD/bin/mprof-ingest" --quiet stacks.bin || complain "small_steps: not recorded with stacks of frees"
rows stacks.db ladders | grep -q '|43|4637716|' || complain "ladders lacks reallocations with stacks of frees: $(cat rows.txt)"
[ "$(rows small_steps.faulty.db ladders | wc -l)" = 2 ] || complain "ladders finds too much: $(cat rows.txt)"
finds padding padded_cells '^PaddedCell\|5000\|200000\|'
finds reserves small_lists '^SmallList<int, 4u>::SmallList\(\)\|16\|2000\|'
finds outlived_clear half_cleared '^History::add\(\)\|Copy\|60\|60000\|'

# The same set by SQL, as schemas/filter-language.md says it.
outlived=$(sqlite3 half_cleared.faulty.db "WITH
    clearing AS (SELECT DISTINCT stack_id AS id FROM v_stack WHERE function LIKE '%clearAll%'),
    p AS (SELECT value / 1024 + 1 AS ns, value AS ended FROM meta WHERE key = 'duration_ns'),
    cleared AS (SELECT DISTINCT stack_id, free_ns / p.ns AS k FROM allocation, p WHERE free_stack_id IN (SELECT id FROM clearing))
    SELECT count(*) || '|' || sum(size) FROM allocation a, p WHERE coalesce(free_stack_id, 0) NOT IN (SELECT id FROM clearing)
        AND stack_id NOT IN (SELECT id FROM clearing) AND EXISTS (SELECT 1 FROM cleared c WHERE c.stack_id = a.stack_id
        AND a.alloc_ns / p.ns < k AND k + 10 <= coalesce(free_ns, ended) / p.ns)")
[ "$outlived" = '60|60000' ] || complain "SQL finds $outlived in outlived"

# All that ship were tried, and are in the document as they ship.
ship=$("$MPROF_BUILD/bin/mprof-tui" --graph list | awk '$2 == "shipped" { print $1 }' | sort | tr '\n' ' ')
[ "$ship" = "$(tr ' ' '\n' <<<"$found" | sed '/^$/d' | sort -u | tr '\n' ' ')" ] || complain "tried$found, not $ship"
for graph in $ship; do
    "$MPROF_BUILD/bin/mprof-tui" --graph "export $graph" >"$graph.graph"
    awk -v graph="$graph" '/^### / { own = $2 == graph } own && !/^(###|$|```)/ && !text && !code { print "# " $0 }
        own && /^```/ { code = !code; if (!code) exit; next } own && code { print; text = 1 }' \
        "$MPROF_SOURCE/docs/graphs.md" >"$graph.documented"
    diff "$graph.graph" "$graph.documented" || complain "docs/graphs.md has another text for $graph"
done
[ "$(grep -c '^### ' "$MPROF_SOURCE/docs/graphs.md")" = "$(wc -w <<<"$ship")" ] || complain 'docs/graphs.md has other graphs'

[ $failed -eq 0 ] && echo 'the graphs that ship find their faults'
exit $failed
