#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The cost of an event on stacks that take turns, as a multiple of one on the thread's own stack: processor
# time that recording adds, the least of RUNS interleaved runs (5), by the depth of the stacks.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bench=$MPROF_BUILD/tests/bench_other_stacks
TIMEFORMAT='%U %S'
least() { # FILE
    awk '{ t = $1 + $2; if (NR == 1 || t < least) least = t } END { print least }' "$1"
}
seconds() { # KIND COUNT DEPTH PAIRS: what recording adds
    rm -f "$work/alone" "$work/recorded"
    for ((i = 0; i < ${RUNS:-5}; i++)); do
        { time "$bench" "$@"; } 2>>"$work/alone"
        { time "$MPROF_BUILD/bin/mprof-run" --quiet --force -o "$work/trace.bin" "$bench" "$@"; } 2>>"$work/recorded"
    done
    awk -v a="$(least "$work/alone")" -v r="$(least "$work/recorded")" 'BEGIN { print r - a }'
}
start=$(seconds own 1 8 0)
added() { # KIND COUNT DEPTH: nanoseconds for each malloc with its free
    awk -v s="$start" -v a="$(seconds "$@" 300000)" 'BEGIN { print (a - s) * 1e9 / 300000 }'
}
printf '%-16s' 'added to a pair'
printf '%10s' 'depth 8' 'depth 30' 'depth 200'
for kind in 'own 1' 'coroutines 1' 'coroutines 16' 'coroutines 100' 'coroutines 1000' 'copied 2' 'copied 16' 'copied 100'; do
    read -r name count <<<"$kind"
    printf '\n%-16s' "$kind"
    for depth in 8 30 200; do
        cost=$(added "$name" "$count" "$depth")
        if [ "$name" = own ]; then
            declare "own_$depth=$cost"
            printf '%7.0f ns' "$cost"
        else
            own=own_$depth
            awk -v c="$cost" -v o="${!own}" 'BEGIN { printf "%10s", sprintf("×%.1f", c / o) }'
        fi
    done
done
printf '\n'
