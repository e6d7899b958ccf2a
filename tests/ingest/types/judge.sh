#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs judge.py: the judge of real programs denies an exact type if the block's own stack does.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/judge.py"
