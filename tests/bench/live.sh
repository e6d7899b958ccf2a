#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# How far the browser is behind a program that it watches: RATE=n allocations and frees a second
# (1,000,000) by THREADS=n threads (4) for DURATION=n seconds (20).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -O1 -g -pthread -o "$work/steady_events" "$MPROF_SOURCE/tests/bench/steady_events.c"
python3 "$MPROF_SOURCE/tests/bench/live_lag.py" "${THREADS:-4}" "${RATE:-1000000}" "${DURATION:-20}" "$work/steady_events"
