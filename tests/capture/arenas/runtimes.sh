#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A runtime by mprof.h: its frames lie in the native frames that evaluate them, in threads that run
# at once, and in a forked child; threads without it have none; kinds are exact types.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
rm -rf trace.bin* session.db child.db
cc -g -O1 -fno-builtin -pthread -I"$MPROF_SOURCE/capture" -o runtime_calls \
    "$MPROF_SOURCE/tests/capture/arenas/runtime_calls.c" || exit 1
mprof-run --quiet -o trace.bin -- ./runtime_calls || { echo "status $?"; failed=1; }
child=$(echo trace.bin.d/*)
mprof-ingest --quiet -o child.db "$child" || failed=1
mv trace.bin.d children.d
mprof-ingest --quiet -o session.db trace.bin || failed=1
rm -rf children.d

check() { # WHAT SESSION QUERY WANTED
    local got
    got=$(sqlite3 "$2" "$3")
    [ "$got" = "$4" ] || { printf '%s:\n%s\nwanted:\n%s\n' "$1" "$got" "$4"; failed=1; }
}
# The stacks with those sizes, innermost frame first, as NAME:LINE.
stacks="SELECT a.size, count(*), (SELECT group_concat(name, ' ') FROM (SELECT
    f.name || CASE WHEN f.role = 'runtime' THEN ':' || fr.line ELSE '' END AS name
    FROM stack_frame sf JOIN frame fr ON fr.id = sf.frame_id JOIN function f ON f.id = fr.function_id
    WHERE sf.stack_id = a.stack_id AND f.name IN ('primitive', 'evaluate', 'toy-outer', 'toy-inner', 'run',
        'toy-moving', 'inner_native', 'outer_native')
    ORDER BY sf.depth)) FROM allocation a WHERE a.size >= 1000 AND a.size <= 4000 AND a.size % 1000 = 0
    GROUP BY 1, 3 ORDER BY 1, 3"
check "stacks" session.db "$stacks" '1000|4000|primitive toy-inner:20 toy-outer:10 evaluate toy-inner:20 toy-outer:10 evaluate run
2000|4000|primitive toy-outer:11 evaluate run
2000|4000|primitive toy-outer:11 evaluate toy-inner:20 toy-outer:10 evaluate run
3000|2000|primitive run
4000|1|primitive inner_native toy-moving:30 outer_native
4000|2|primitive toy-moving:30 inner_native outer_native'
check "stacks of the child" child.db "$stacks" '1000|1|primitive toy-inner:20 toy-outer:10 evaluate
2000|1|primitive toy-outer:11 evaluate'
check "the threads overlapped" session.db "SELECT count(*) > 1 FROM (SELECT thread_id, min(alloc_ns) AS b, max(alloc_ns) AS e
    FROM allocation WHERE size = 1000 GROUP BY 1) x WHERE EXISTS (SELECT 1 FROM allocation y
    WHERE y.size = 3000 AND y.alloc_ns BETWEEN x.b AND x.e)" 1
check "roles" session.db "SELECT name, role, line FROM function WHERE role IN ('runtime', 'evaluator')
    AND name NOT LIKE '%native' AND name NOT LIKE '%moving' ORDER BY 1" \
    'evaluate|evaluator|'"$(grep -n 'static void evaluate' "$MPROF_SOURCE/tests/capture/arenas/runtime_calls.c" | cut -d: -f1)"'
toy-inner|runtime|3
toy-outer|runtime|3'
cells="SELECT t.name, t.confidence, a.size, a.free_ns IS NULL, count(*) FROM allocation a
    JOIN type t ON t.id = a.type_id WHERE a.arena_id > 0 AND a.size = 16 GROUP BY 4 ORDER BY 4"
check "cells" session.db "$cells" 'cons|exact|16|0|99
cons|exact|16|1|11'
check "types that are told later" session.db "SELECT a.size, t.name, t.confidence FROM allocation a JOIN type t ON t.id = a.type_id
    WHERE a.size IN (24, 5000) ORDER BY 1" '24|string|exact
5000|vector|exact'
check "who freed" session.db "SELECT freed_by, kept, count(*) FROM v_allocation WHERE arena_id > 0 AND size = 16 GROUP BY 1, 2 ORDER BY 1, 2" \
    '|0|10
|1|1
collector|0|98
program|0|1'
check "the collection" session.db "SELECT m.name, collected, bytes, begin_ns < end_ns, c.process_id FROM collection c
    JOIN module m ON m.id = c.runtime_id" '[toy]|98|1568|1|1'
check "what is kept" session.db "SELECT r.collected, m.name, kept_ns = begin_ns, live_count, kept_count, kept_bytes
    FROM arena r JOIN collection c USING (runtime_id) JOIN module m ON m.id = r.runtime_id" '98|[toy]|1|11|1|16'
check "a cell of the parent that the child's collector took" child.db "SELECT count(*), s.state FROM inherited_free f
    JOIN stack s ON s.id = f.free_stack_id WHERE arena_id > 0" '1|collector'
check "kept in the child" child.db "SELECT collected, kept_count, live_count FROM arena" '1|0|1'
check "cell of the child" child.db "$cells" 'cons|exact|16|1|1'
graph() { mprof-tui --graph "run $2" session.db 2>&1 | sed 's/, .*//' | grep -qx "$1" || { echo "$2: not $1"; failed=1; }; }
graph 'count: 1' 'survived | where arena == toy | count'
graph 'count: 11' 'live | where arena == toy | count'
graph 'count: 0' 'leaked | where arena == toy | count'
graph 'count: 98' 'all | where arena == toy and collected == true | count'
graph 'count: 1' 'all | where arena == toy and freed == true and collected == false | count'
graph 'count: 1' 'all | where arena == toy | sort collected desc | top 98 | join collected | count'
graph 'groups: 2' 'all | where arena == toy | join collected'
# The four tables of 1988: kept is what the collection left, and the rest counts as freed.
mprof-report 1988 --filter 'all | where arena == toy' -o tables.txt session.db || failed=1
grep -qE '^ +16 +110 +1760 \(\*\*\) +109 +16 \(\*\*\) +cons' tables.txt &&
    [ "$(grep -c '^kept: what the last garbage collection left' tables.txt)" = 2 ] &&
    grep -qx 'Total bytes that the last collection left: 16' tables.txt &&
    grep -qE '^ +16 \(\*\*\) +110 .* 109 ' tables.txt &&
    grep -qE '^ +100.0 +1760 .* 16 \|.* main$' tables.txt || { cat tables.txt; failed=1; }
mprof-report 1988 -o tables.txt session.db && ! grep -q collection tables.txt || { echo "heap"; failed=1; }
# Its functions are in the tables, and what evaluates them is not.
mprof-report 1988 -verbose -o tables.txt session.db && grep -q ' toy-inner <cycle 1> \[' tables.txt && grep -q ' run \[' tables.txt &&
    ! grep -q '\<evaluate\>' tables.txt || { echo "the evaluator is in the tables of 1988"; failed=1; }
mprof-report leaks --filter 'all | where arena == toy' --format json -o leaks.json session.db || failed=1
check "leaks" session.db "SELECT json_extract(j, '$.facts.bytes'), json_extract(j, '$.facts.kept_bytes')
    FROM (SELECT CAST(readfile('leaks.json') AS TEXT) AS j)" '0|176'
rm -f rows.csv && mprof-export --format csv --filter 'all | where arena == toy' -o rows.csv session.db || failed=1
[ "$(sqlite3 :memory: '.import --csv rows.csv r' 'SELECT freed_by, count(*) FROM r GROUP BY 1 ORDER BY 1' | tr '\n' ' ')" = \
    '|11 collector|98 program|1 ' ] || { head -3 rows.csv; failed=1; }
check "problems" session.db "SELECT kind FROM problem WHERE kind != 'dropped'" ''

# A recording that pauses, stops and begins again, or begins late: collections and what they took are recorded in a
# pause, too, and each trace has the names and kinds.
cc -g -O1 -I"$MPROF_SOURCE/capture" -o runtime_stops "$MPROF_SOURCE/tests/capture/arenas/runtime_stops.c" || exit 1
stops() { # WANTED TRACE MODE OPTION...
    local wanted=$1 trace=$2 mode=$3
    shift 3
    rm -f stops.bin restarted.bin
    mprof-run --quiet "$@" -o stops.bin -- ./runtime_stops "$mode" && mprof-ingest -q -f -o stops.db "$trace" || failed=1
    check "$mode $* $trace" stops.db "SELECT (SELECT count(*) || ' ' || sum(collected) || ' ' || count(end_ns) FROM collection),
        r.allocations, r.collected, r.kept_count, r.live_count, (SELECT count(*) FROM problem),
        (SELECT group_concat(DISTINCT t.name || ' ' || t.confidence) FROM type t),
        (SELECT group_concat(name) FROM function WHERE role = 'runtime') FROM arena r" "$wanted"
}
stops '3 30 3|33|30|0|3|0|cons exact|toy' stops.bin none
stops '3 30 3|33|30|0|3|0|cons exact|toy' stops.bin pause
stops '1 10 1|20|10|0|10|0|cons exact|toy' stops.bin stop
stops '1 10 1|13|10|0|3|0|cons exact|toy' restarted.bin stop
# The blocks of arenas count, and the first one under a function begins the recording.
stops '3 28 3|31|28|0|3|0|cons exact|toy' stops.bin none --start-on='allocs>1'
stops '2 12 2|22|12|0|10|0|cons exact|toy' stops.bin none --start-on='allocs>7' --stop-on='allocs>32'
stops '3 30 3|33|30|0|3|0|cons exact|toy' stops.bin none --start-on=call:main
exit "$failed"
