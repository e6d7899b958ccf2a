#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The cost of a short-lived thread: processor time of a thread that allocates once, alone and
# recorded. The least of five interleaved runs counts. Recording may add 40 µs to each thread, no
# matter how much memory is mapped.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=3000
bench=$MPROF_BUILD/tests/bench_threads
least() { # FILE
    sort -g "$1" | head -n 1
}
printf 'each short thread, in a process of so many mappings\n'
printf '%8s %10s %10s %10s\n' mappings alone recorded added
for mappings in 10 2000 20000; do
    rm -f "$work/alone" "$work/recorded"
    for _ in 1 2 3 4 5; do
        "$bench" $mappings $count >>"$work/alone"
        "$MPROF_BUILD/bin/mprof-run" --quiet --force -o "$work/trace.bin" "$bench" $mappings $count >>"$work/recorded"
    done
    alone=$(least "$work/alone") recorded=$(least "$work/recorded")
    printf '%8s %7s µs %7s µs %7s µs\n' $mappings "$alone" "$recorded" "$(jq -n "($recorded - $alone) * 10 | round / 10")"
done
