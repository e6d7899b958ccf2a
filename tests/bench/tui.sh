#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The browser's answers to 100 keys on a terminal of 200x60, the bytes that it writes, and what it
# costs when nobody presses a key: a recorded program with ALLOCATIONS=n allocations (10,000,000).
# SESSION=file for a session that exists already.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
session=${SESSION:-$work/s.db}
if [ -z "${SESSION:-}" ]; then
    gcc -O1 -g -o "$work/many_stacks" "$MPROF_SOURCE/tests/bench/many_stacks.c"
    "$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/s.bin" -- "$work/many_stacks" "${ALLOCATIONS:-10000000}"
    "$MPROF_BUILD/bin/mprof-ingest" -q -o "$session" "$work/s.bin"
    rm "$work/s.bin"
fi
# The user's own settings and the hint of a first run stay away.
XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work python3 "$MPROF_SOURCE/tests/bench/tui_tour.py" "$MPROF_BUILD/bin/mprof-tui" "$session"
