#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# set_mprof_autosave(), mprof_stop() and mprof_restart(): each trace holds exactly its phase.
set -u
command -v sqlite3 >/dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
expect() { # SESSION QUERY ANSWER
    local answer
    answer=$(sqlite3 "$1" "$2" 2>&1)
    [ "$answer" = "$3" ] || { echo "$kind: $1: $2: expected '$3', got '$answer'"; failed=1; }
}
sizes="SELECT size, count(*), count(DISTINCT thread_id), sum(free_ns IS NULL) FROM allocation WHERE size BETWEEN 1000 AND 5999 GROUP BY size"
sound="SELECT group_concat(key || ' ' || value) FROM meta WHERE key IN ('overlaps', 'double_frees', 'dropped_events',
    'damaged_bytes', 'missing_chunks', 'orphaned_stacks')"
ending="SELECT value FROM meta WHERE key = 'ending'"
good='damaged_bytes 0,double_frees 0,dropped_events 0,missing_chunks 0,orphaned_stacks 0,overlaps 0'

cc -O1 -g -pthread -fno-builtin -I"$MPROF_SOURCE" -o calls "$MPROF_SOURCE/tests/capture/arenas/calls_1988.c" || exit 1
./calls none.bin && [ ! -e none.bin ] || { echo "unrecorded it fails or records"; failed=1; }
for kind in "" --clock=fast --free-stacks; do
    rm -rf ./*.bin* ./*.db
    "$MPROF_BUILD/bin/mprof-run" --quiet $kind -o first.bin ./calls "$PWD/second.bin" 2>messages || { echo "$kind: $?"; failed=1; }
    mv second.bin.d/*.2 fourth.bin && mv second.bin.d/* third.bin && rmdir second.bin.d || { echo "$kind: traces missing"; ls; failed=1; }
    for trace in first second third fourth; do
        "$MPROF_BUILD/bin/mprof-ingest" --quiet -o $trace.db $trace.bin || failed=1
        [ "$kind" = --clock=fast ] || expect $trace.db "$sound" "$good"
        # A trace that mprof_stop() or mprof_restart() ends has stopped: the program went on.
        expect $trace.db "$ending" "$(case $trace in fourth) echo ended ;; *) echo stopped ;; esac)"
    done
    # Threads that never allocate in a trace are not in it. pthread_create has its own blocks.
    expect first.db "$sizes" '1000|2000|4|0
1001|1|1|1'
    expect second.db "$sizes" '3000|2000|4|0
3002|1|1|1'
    expect third.db "$sizes" '5000|2000|4|0'
    expect fourth.db "$sizes" ''
    expect second.db "SELECT name FROM arena" 'through all'
    expect second.db "SELECT value > 0 FROM meta WHERE key = 'unmatched_frees'" 1
    expect second.db "SELECT DISTINCT function FROM v_allocation WHERE size = 3000" worker
    # The phase has 2,000 allocations and a few come before it: one snapshot for each 100.
    expect first.db "SELECT count(*), count(DISTINCT name), min(kind) FROM mark WHERE kind = 'snapshot'" '20|1|snapshot'
    expect second.db "SELECT count(*) FROM mark WHERE kind = 'snapshot'" 20
    expect third.db "SELECT count(*) FROM mark WHERE kind = 'snapshot'" 0
done

kind=forks
rm -rf ./*.bin* ./*.db
cc -O1 -g -fno-builtin -I"$MPROF_SOURCE" -o forks "$MPROF_SOURCE/tests/capture/arenas/calls_1988_forks.c" || exit 1
"$MPROF_BUILD/bin/mprof-run" --quiet -o main.bin ./forks || { echo "$kind: $?"; failed=1; }
mv main.bin.d/* child.bin && rmdir main.bin.d
[ "$(echo ./*.bin*)" = "./child.bin ./child1.bin ./child2.bin ./main.bin" ] || { echo "$kind: traces: $(echo ./*.bin*)"; failed=1; }
for one in main:1111 child:1222 child1:1333 child2:1444; do
    "$MPROF_BUILD/bin/mprof-ingest" --quiet -o "${one%:*}.db" "${one%:*}.bin" || failed=1
    expect "${one%:*}.db" "SELECT size FROM allocation WHERE size BETWEEN 1000 AND 2999 AND size NOT IN (1024, 2048)" "${one#*:}"
    expect "${one%:*}.db" "$sound" "$good"
    expect "${one%:*}.db" "$ending" "$(case $one in child[12]:*) echo ended ;; *) echo stopped ;; esac)"
done
exit $failed
