#!/usr/bin/env bash
# clang-format is clean on every C file of ours.
set -u
cd "$MPROF_SOURCE" || exit 1
command -v clang-format >/dev/null || { echo "skipped: no clang-format"; exit 77; }
git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror
