#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What a sample costs a server: processor time of redis-server for the same requests, alone and recorded with
# --sample=512K and rotation. The runs alternate, and each pair gives one difference: the table has their mean with
# its 95 % interval. The bar is 1 %. MPROF_PAIRS and MPROF_REQUESTS change the number of pairs and of requests.
exec python3 "$(dirname "$0")/service.py"
