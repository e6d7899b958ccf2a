#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Time of each question that the browser asks, on a synthetic session. ALLOCATIONS=n for other
# than 10,000,000.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$MPROF_BUILD/tests/make_session" "$work/s.db" "${ALLOCATIONS:-10000000}" 20000 2000 8 1
"$MPROF_BUILD/tests/bench_session" "$work/s.db"
