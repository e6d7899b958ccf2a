#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# part.sh SESSION SELECTION ALL [LOST]: writes the allocations of a filter graph as a session of their
# own and compares both. ALL gives the same allocations in the new session. LOST: columns of groups
# and measures that may differ. Run it in a folder that may be written.
set -u
PATH=$MPROF_BUILD/bin:$PATH
session=$1 selection=$2 all=$3 lost=${4:-at_peak_bytes}
part=${session%.db}-part.db
failed=0
complain() { echo "$session, $selection: $1"; failed=1; }

rm -f "$part"
mprof-tui --graph "run $selection | write \"$part\"" "$session" >written.txt 2>&1 || { cat written.txt; exit 1; }
for draft in "$part".*; do [ ! -e "$draft" ] || complain "leaves $draft"; done
mprof-tui --graph "run $selection | write \"$part\"" "$session" >again.txt 2>&1 && complain "is written twice"
grep -q 'write never replaces one' again.txt || complain "$(cat again.txt)"

# All facts that are not about other allocations of the whole session are the same.
print() { # SESSION SET: the answers without the lost columns
    local steps=(count 'sum size' 'avg lifetime' peak 'growth 25%..75%' 'join type' 'join function, caller' 'join stack'
        'join free_stack' 'join owner, confidence' 'join user' 'join thread, free_thread' 'join process' 'join arena'
        'join kind, freed' 'join file, line, module' 'join size, count')
    "$MPROF_BUILD/tests/print_graph" "$1" "${steps[@]/#/$2 | }" | awk -F'\t' -v lost="$lost" '
        BEGIN { OFS = FS; n = split(lost, names, ","); for (i = 1; i <= n; i++) left[names[i]] = 1 }
        /^#/ { split("", out); head = NR + 1; print "#"; next }
        NR == head { for (i = 1; i <= NF; i++) if ($i in left) out[i] = 1 }
        $1 in left { next }
        { for (i in out) $i = ""; print }' | LC_ALL=C sort
}
print "$session" "$selection" >whole.txt
print "$part" "$all" >part.txt
[ "$(wc -l <whole.txt)" -gt 40 ] || complain "has only $(wc -l <whole.txt) answers"
cmp -s whole.txt part.txt || complain "$(diff whole.txt part.txt | head -6)"

# The same rows, and dense ids.
differ=$(sqlite3 "$part" "ATTACH '$session' AS whole;
    SELECT count(*) FROM allocation a LEFT JOIN original_allocation o USING (id)
    LEFT JOIN whole.allocation w ON w.id = o.original_id
    LEFT JOIN original_allocation r ON r.original_id = w.realloc_of
    WHERE (a.address, a.size, a.stack_id, a.alloc_ns, a.thread_id, a.type_id, a.kind, a.count, a.arena_id, a.alignment)
      IS NOT (w.address, w.size, w.stack_id, w.alloc_ns, w.thread_id, w.type_id, w.kind, w.count, w.arena_id, w.alignment)
    OR (a.free_ns, a.free_thread_id, a.free_stack_id) IS NOT (w.free_ns, w.free_thread_id, w.free_stack_id)
    OR a.realloc_of IS NOT r.id;
    SELECT count(*) <> max(id) OR count(*) <> (SELECT value FROM meta WHERE key = 'rows') FROM allocation")
[ "$differ" = $'0\n0' ] || complain "rows differ: $differ"
[ "$(sqlite3 "$part" "PRAGMA integrity_check")" = ok ] || complain "is damaged"

# The sums of all tables are those of the rows.
"$MPROF_BUILD/tests/check_summed" "$part" >sums.txt 2>&1 || complain "$(head -5 sums.txt)"
mprof-report "$part" >report.txt 2>&1 || complain "$(head -3 report.txt)"
grep -q "^part of  *$(basename "$session")" report.txt || complain "the report does not say of what it is a part"
mprof-tui --fresh --size 200x60 --script <(echo dump) "$part" >screen.txt 2>&1 || complain "$(head -3 screen.txt)"
grep -q "only a part of $(basename "$session")" screen.txt || complain "the browser does not say of what it is a part"
exit $failed
