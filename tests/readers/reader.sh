#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the test of one format. usage: reader.sh NAME
set -euo pipefail
PYTHONDONTWRITEBYTECODE=1 exec python3 "$MPROF_SOURCE/tests/readers/$1.py"
