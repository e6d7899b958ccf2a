#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Time of each question that people ask of a session, warm and cold: a recorded program with 250,000
# stacks and ALLOCATIONS=n allocations (10,000,000; 100,000,000 need 15 GB of disk). PYTHON=n for
# python3 on n of its own library's files instead: 400 give 20 M allocations in 1.4 M stacks.
# SESSION=file for one that exists already. Beside the bytes that a question reads, the table has the time
# that this machine needs only to read as many.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
session=${SESSION:-$work/s.db}
if [ -n "${PYTHON:-}" ]; then
    PYTHONMALLOC=malloc "$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/s.bin" -- /usr/bin/python3 \
        "$MPROF_SOURCE/tests/bench/python_trees.py" "$PYTHON" /usr/lib/python3*
elif [ -z "${SESSION:-}" ]; then
    gcc -O1 -g -o "$work/many_stacks" "$MPROF_SOURCE/tests/bench/many_stacks.c"
    "$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/s.bin" -- "$work/many_stacks" "${ALLOCATIONS:-10000000}"
fi
if [ -e "$work/s.bin" ]; then
    "$MPROF_BUILD/bin/mprof-ingest" -q -o "$session" "$work/s.bin"
    rm "$work/s.bin"
fi
"$MPROF_BUILD/tests/bench_session" "$session"
