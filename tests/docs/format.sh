#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# clang-format is clean on every C file of the project.
set -u
cd "$MPROF_SOURCE" || exit 1
. tests/docs/sources.sh
command -v clang-format >/dev/null || { echo "skipped: no clang-format"; exit 77; }
sources '*.c' '*.h' | xargs clang-format --dry-run --Werror
