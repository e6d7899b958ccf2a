#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The cost of recording: wall time of real programs and of a micro-benchmark, alone, recorded by
# mprof with both clocks, and recorded by heaptrack (raw: only the cost inside the process; full: as
# users run it), interleaved in one run. Also the cost of the options of mprof-run, and the memory.
# Prints the tables of docs/overhead.md. RUNS=n sets the number of runs (5), PARTS="…" the parts:
# workloads, micro, options, unwind.
exec /usr/bin/python3 "$(dirname "$0")/capture.py" "$@"
