#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Wall time and disk space of the heap profilers that Debian has, each as its users run it, interleaved
# in one run: the table of README.md. RUNS=n sets the number of runs (5), WORKLOADS="…" the programs
# (sqlite3 jq).
PARTS="profilers ${WORKLOADS:-}" exec /usr/bin/python3 "$(dirname "$0")/capture.py" "$@"
