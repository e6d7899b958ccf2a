#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The cost of a block of the program's own allocators: processor time and bytes of the trace for each
# event, recorded and sampled. The least of five runs counts. Without mprof the calls are one branch.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=2000000
row() { # NAME [COMMAND…]
    local name=$1 least=
    shift
    for _ in 1 2 3 4 5; do
        rm -f "$work/trace.bin"
        ns=$("$@" "$MPROF_BUILD/tests/bench_arena_events" $count)
        least=$(printf '%s\n' "$ns" $least | sort -g | head -n 1)
    done
    bytes=$([ -e "$work/trace.bin" ] && stat -c %s "$work/trace.bin" || echo 0)
    printf '%-22s %6s ns %6.1f bytes\n' "$name" "$least" "$(jq -n "$bytes / (2 * $count)")"
}
printf 'each event of an arena\n'
row 'not recorded'
row 'recorded' "$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/trace.bin"
row '--sample=512K' "$MPROF_BUILD/bin/mprof-run" --quiet --sample=512K -o "$work/trace.bin"
