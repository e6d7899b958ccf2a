#!/usr/bin/env bash
# What recording costs: wall time of real programs and of a micro-benchmark, alone, recorded by
# mprof with both clocks, and recorded by heaptrack (raw: in-process cost only; full: as users run
# it), interleaved in one run; what the options of mprof-run cost; memory added. Prints the tables
# of docs/overhead.md. RUNS=n for other than 5; names of workloads, micro or options for a part.
exec /usr/bin/python3 "$(dirname "$0")/capture.py" "$@"
