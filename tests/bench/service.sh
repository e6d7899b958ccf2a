#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What a sample costs a server: processor time of redis-server for the same requests, alone and recorded with
# --sample=512K and rotation. The two servers of a pair live at the same time and get the load in turns. Each pair gives
# one difference: the table has their mean with its 95 % interval. The bar is 1 %. MPROF_PAIRS, MPROF_ROUNDS (loads of
# each server), MPROF_REQUESTS (of each kind in a load) and MPROF_PIPELINES (requests at once, a row each) change it.
# MPROF_MINUTES=4 takes as many pairs as begin in four minutes for each row.
exec python3 "$(dirname "$0")/service.py"
