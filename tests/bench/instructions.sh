#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The instructions of a malloc with its free, recorded, by the depth of the stack: those that valgrind
# (--tool=callgrind) counts in the program, the allocator and the recorder. The difference of two runs leaves
# out the start.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
collected() { # DEPTH PAIRS OPTION...
    local depth=$1 pairs=$2
    shift 2
    "$MPROF_BUILD/bin/mprof-run" --quiet --force "$@" -o "$work/trace.bin" \
        valgrind --tool=callgrind --callgrind-out-file="$work/out" \
        "$MPROF_BUILD/tests/bench_other_stacks" steady 1 "$depth" "$pairs" 2>&1 | sed -n 's/.*Collected : //p'
}
printf '%-16s%10s%10s%10s\n' 'a pair' 'depth 10' 'depth 30' 'depth 100'
for option in --clock=exact --sample=512K; do
    printf '%-16s' "$option"
    for depth in 10 30 100; do
        few=$(collected $((depth - 3)) 20000 $option) many=$(collected $((depth - 3)) 220000 $option)
        awk -v f="$few" -v m="$many" 'BEGIN { printf "%10.1f", (m - f) / 200000 }'
    done
    printf '\n'
done
