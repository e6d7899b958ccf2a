#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Who keeps memory alive, on a trace of known bytes: the report and Chrome's heap snapshot say what SQL says.
set -u
bin=$MPROF_BUILD/bin
rm -rf retained && mkdir retained && cd retained || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
expect() { [ "$2" = "$3" ] || complain "$1: $2, not $3"; }

"$bin/mprof-ingest" --quiet -o golden.db "$MPROF_SOURCE/tests/golden/trace/references.bin" || exit 1
report() { "$bin/mprof-report" retained --format json "$@" golden.db; }
# The first snapshot is whole: a register reaches the one block. The second one is not, and so nothing is sure.
report --at cache >cache.json || complain "cache"
report >last.json || complain "the last one"
expect reachable "$(jq -c '.facts | [.reachable_bytes, .reachable_count, .unreachable_bytes]' cache.json)" "[32,1,0]"
expect roots "$(jq -c '.tables.roots.rows | map([.root, .kind, .retained_bytes])' cache.json)" '[["rbx of thread 4242","register",32]]'
expect incomplete "$(jq -c '.facts | [.why, .reachable_bytes, .unreachable_bytes, .unknown_bytes]' last.json)" \
    '["the trace ends in the middle of it",0,0,32]'
expect sql "$(sqlite3 golden.db "SELECT group_concat(reachability || retained_bytes, ' ') FROM v_retained")" "reachable32 unknown32"
expect path "$(sqlite3 golden.db "SELECT path FROM v_path_to_root WHERE snapshot_id = 1 AND allocation_id = 1")" \
    "(unknown) ← rbx of thread 4242 (register)"
expect marks "$(sqlite3 golden.db "SELECT group_concat(kind || ' ' || name, ', ') FROM mark")" "references cache, references end"

"$bin/mprof-export" -f heapsnapshot golden.db >golden.heapsnapshot || complain "export"
jq -e '.snapshot.node_count * (.snapshot.meta.node_fields | length) == (.nodes | length) and
       .snapshot.edge_count * (.snapshot.meta.edge_fields | length) == (.edges | length) and
       ([.nodes[4:][range(0; length; 7) as $i | $i]] | length) > 0' golden.heapsnapshot >/dev/null ||
    complain "the numbers of nodes and edges: $(head -c 300 golden.heapsnapshot)"

# Rebuilt, the tables are the same.
dump() { sqlite3 golden.db "SELECT * FROM retained; SELECT * FROM root; SELECT * FROM reference; SELECT * FROM retained_group"; }
dump >before.txt
"$bin/mprof-ingest" --rebuild golden.db >/dev/null || complain "rebuild"
dump | cmp - before.txt || complain "rebuilt tables differ"

"$bin/mprof-report" retained --filter all golden.db >/dev/null 2>&1
expect "a filter" $? 2
"$bin/mprof-export" -f heapsnapshot --filter all golden.db >/dev/null 2>&1
expect "a filter of the export" $? 2
"$bin/mprof-ingest" --quiet -o none.db "$MPROF_SOURCE/tests/golden/trace/worked.bin" || exit 1
"$bin/mprof-report" retained none.db 2>message
expect "no snapshot" $? 1
grep -q -- "--references=end" message || complain "no advice: $(cat message)"
# Filters that need a snapshot say so at their column.
graph() { "$bin/mprof-tui" --graph "run $1" "$2" 2>&1; }
place() { graph "$1" none.db | sed -n 's/.*column \([0-9]*\): \(.*\) needs the references.*--references=end$/\1 \2/p'; }
expect "a set" "$(place 'unreachable | count')" "1 unreachable"
expect "a set in a saved filter" "$(place 'lost = possibly; lost')" "8 possibly"
expect "a field" "$(place 'live | where size > 1 and retained > 1')" "27 retained"
expect "a sort" "$(place 'live | sort references')" "13 references"
expect "a sum" "$(place 'live | sum retained')" "12 retained"
expect "a join" "$(place 'live | join reachability')" "13 reachability"
expect "a step" "$(place 'all | held by (all)')" "7 held by"
printf 'lost: unreachable | count == 0\n' >budgets
"$bin/mprof-report" --check budgets none.db >/dev/null 2>message
expect "a budget" $? 2
grep -q -- "--references=end" message || complain "no advice: $(cat message)"

# The last snapshot counts, which is not whole.
expect "the last snapshot" "$(graph 'where reachability == unknown | count' golden.db)" "count: 1"
expect "bytes" "$(graph 'all | where reachability != root | sum retained' golden.db)" "sum retained: 32 bytes"
expect "a budget holds" "$("$bin/mprof-report" --check budgets golden.db >/dev/null; echo $?)" 0
# Leaks by what reaches them, by SQL on the tables. The early ones and the groups are those of the selection.
"$MPROF_BUILD/tests/make_session" held.db 3000 300 60 4 7 && python3 "$MPROF_SOURCE/tests/session/reference_rows.py" held.db &&
    "$bin/mprof-ingest" --rebuild held.db >/dev/null || complain "held.db"
leaks() { "$bin/mprof-report" leaks --format json --top all "$@" held.db; }
leaked="FROM allocation a LEFT JOIN retained r ON r.allocation_id = a.id WHERE a.free_ns IS NULL AND a.arena_id = 0
  AND a.stack_id NOT IN (SELECT stack_id FROM runtime_stack)"
sql() { sqlite3 held.db "SELECT ifnull(sum(a.size), 0) $leaked AND $1"; }
leaks >leaks.json || complain "leaks"
for kind in "unreachable r.state > 2" "possibly r.state = 2" "reachable r.state = 1" "unknown ifnull(r.state, 0) = 0"; do
    bytes=$(sql "${kind#* }")
    expect "$kind" "$(jq ".facts.${kind%% *}_bytes" leaks.json)" "$bytes"
    expect "the groups of $kind" "$(jq "[.tables.groups.rows[] | select(.reachability == \"${kind%% *}\") | .bytes] | add // 0" leaks.json)" "$bytes"
    expect "only $kind" "$(leaks --kind="${kind%% *}" | jq .facts.bytes)" "$bytes"
    expect "only $kind by type" "$(leaks --by type --kind="${kind%% *}" | jq '[.tables.groups.rows[].bytes] | add // 0')" "$bytes"
done
expect "two kinds" "$(leaks --kind=reachable,possibly | jq .facts.bytes)" "$(sql 'r.state IN (1, 2)')"
[ "$(sql 'r.state > 2')" -gt 0 ] && [ "$(sql 'r.state = 2')" -gt 0 ] || complain "the session has no such leaks"
expect "order" "$(jq -c '[.tables.groups.rows[].reachability] | reduce .[] as $r ([]; if .[-1] == $r then . else . + [$r] end)' leaks.json)" \
    '["unreachable","possibly","unknown","reachable"]'
# Two snapshots of one session are compared.
"$MPROF_BUILD/tests/make_session" two.db 3000 300 60 4 7 && python3 "$MPROF_SOURCE/tests/session/reference_rows.py" two.db earlier &&
    "$bin/mprof-ingest" --rebuild two.db >/dev/null || complain "two.db"
"$bin/mprof-report" retained --base two.db --top all --format json two.db >two.json || complain "two snapshots"
expect "the growth of types" "$(jq -c '.tables.types.rows | map(select(.change_bytes != 0) | [.type, .change_bytes, .base_bytes, .bytes]) | sort' two.json)" \
    "$(sqlite3 -json two.db "SELECT name, sum(iif(snapshot_id = 1, bytes, -bytes)) AS change, sum(iif(snapshot_id = 2, bytes, 0)) AS base,
          sum(iif(snapshot_id = 1, bytes, 0)) AS now FROM (SELECT snapshot_id, bytes, ifnull((SELECT name FROM type WHERE id = key),
          '(unknown type)') AS name FROM retained_group WHERE kind = 'type') GROUP BY name HAVING change <> 0" |
       jq -c 'map([.name, .change, .base, .now]) | sort')"
expect "the growth by holders" "$(jq '[.tables.held.rows[].change_bytes] | add' two.json)" "$(jq '.facts.live_bytes - .facts.base_live_bytes' two.json)"
expect "the growth of what nothing holds" \
    "$(jq '[.tables.held.rows[] | select(.held_by == "(unreachable)") | .change_bytes] | add' two.json)" \
    "$(sqlite3 two.db "SELECT sum(iif(snapshot_id = 1, size, -size)) FROM v_unreachable")"
"$bin/mprof-report" retained --base held.db --format json held.db >/dev/null 2>message
expect "no snapshot before" $? 1
grep -q "no snapshot of references before" message || complain "no reason: $(cat message)"
"$bin/mprof-report" leaks --base held.db held.db 2>/dev/null
expect "a base of leaks" $? 2

"$bin/mprof-report" leaks --kind=lost held.db 2>/dev/null
expect "a wrong kind" $? 2
"$bin/mprof-report" leaks --kind=unreachable none.db 2>message
expect "kinds without a snapshot" $? 1
grep -q -- "--references=end" message || complain "no advice: $(cat message)"
exit $failed
