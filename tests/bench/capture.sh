#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What recording costs: wall time of real programs and of a micro-benchmark, alone, recorded by
# mprof with both clocks, and recorded by heaptrack (raw: in-process cost only; full: as users run
# it), interleaved in one run; what the options of mprof-run cost; memory added. Prints the tables
# of docs/overhead.md. RUNS=n for other than 5; PARTS="…" for a part: workloads, micro, options, unwind.
exec /usr/bin/python3 "$(dirname "$0")/capture.py" "$@"
