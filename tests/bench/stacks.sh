#!/usr/bin/env bash
# Processor time of taking a stack, unchanged and changed, by depth.
exec "$MPROF_BUILD/tests/bench_stacks"
