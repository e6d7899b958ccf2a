#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Measures what a sample costs a server: processor time of redis-server for the same requests, alone
# and recorded with --sample=512K and rotation. Three servers live at the same time and get the load
# in turns: one alone, the same again as a control, and one sampled. Each trio gives two
# differences: the table has their means with 95 % intervals. That of the control shows how far the
# method itself leans. The bar is 1 %. MPROF_TRIOS, MPROF_ROUNDS (loads of each server),
# MPROF_REQUESTS (of each kind in a load) and MPROF_PIPELINES (requests at once, two rows each)
# change it. MPROF_MINUTES=4 takes as many trios as begin in four minutes for each pipeline.
exec python3 "$(dirname "$0")/service.py"
