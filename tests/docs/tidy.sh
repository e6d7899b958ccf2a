#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# tidy.sh FOLDER: clang-tidy is clean on every C file of the folder.
set -u
cd "$MPROF_SOURCE" || exit 1
. tests/docs/sources.sh
command -v clang-tidy >/dev/null || { echo "skipped: no clang-tidy"; exit 77; }
# Each process: a file takes seconds.
ulimit -t 900
# clang 14 reads the compile commands that CMake wrote for gcc. (Its valist check is off: it takes
# every va_start of x86_64 glibc for none.)
# The analyzer follows paths through a function up to a number of states. At its default of 225,000 the
# long functions alone take minutes, and at 60,000 all folders five. Only the soak uses that number.
limit=()
[ -n "${MPROF_SOAK:-}" ] || for word in -Xclang -analyzer-config -Xclang max-nodes=12000; do limit+=("--extra-arg=$word"); done
sources "$1/*.c" | grep -x "$1/[^/]*" | xargs -r -n 4 clang-tidy --quiet -p "$MPROF_BUILD" "${limit[@]}" 2>/dev/null
