#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Processor time of taking a stack, unchanged and changed, by depth.
exec "$MPROF_BUILD/tests/bench_stacks"
