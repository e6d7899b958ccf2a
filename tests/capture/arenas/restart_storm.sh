#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Thirty restarts while threads allocate without a pause: nothing crashes, and every trace is sound
# and complete.
set -u
command -v sqlite3 >/dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" && mkdir traces || exit 1
failed=0
cc -O1 -g -pthread -fno-builtin -I"$MPROF_SOURCE" -o storm "$MPROF_SOURCE/tests/capture/arenas/restart_storm.c" || exit 1
timeout 200 "$MPROF_BUILD/bin/mprof-run" --quiet -o traces/first ./storm traces 30 || { echo "status $?"; failed=1; }
count=0 stopped=0
for trace in traces/*; do
    count=$((count + 1))
    "$MPROF_BUILD/bin/mprof-ingest" --quiet -o session.db --force "$trace" || { echo "$trace is not ingested"; failed=1; }
    wrong=$(sqlite3 session.db "SELECT key, value FROM meta WHERE (key = 'ending' AND value NOT IN ('ended', 'stopped')) OR (value <> 0
        AND key IN ('overlaps', 'double_frees', 'damaged_bytes', 'missing_chunks', 'orphaned_stacks', 'dropped_events'))")
    [ -z "$wrong" ] || { echo "$trace: $wrong"; failed=1; }
    stopped=$((stopped + $(sqlite3 session.db "SELECT value = 'stopped' FROM meta WHERE key = 'ending'")))
    # Each of four threads allocates 300 times after each restart, of which the first can have begun before it.
    # Nothing is promised of the first trace.
    allocations=$(sqlite3 session.db "SELECT value FROM meta WHERE key = 'allocations'")
    [ "$trace" = traces/first ] || [ "$allocations" -ge 1196 ] || { echo "$trace: $allocations allocations"; failed=1; }
done
[ $stopped -eq 30 ] || { echo "$stopped traces have stopped"; failed=1; }
[ $count -eq 31 ] || { echo "$count traces"; failed=1; }
exit $failed
