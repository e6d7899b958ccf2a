#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The measurements of the paper of 1988 on programs of the same kinds.
. "$(dirname "$0")/common.sh"
exec python3 "$MPROF_SOURCE/tests/studies/paper.py" "$MPROF_BUILD/bin" "$MPROF_SOURCE"
