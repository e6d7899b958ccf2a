#!/usr/bin/env bash
# tidy.sh FOLDER: clang-tidy is clean on every C file of ours there.
set -u
cd "$MPROF_SOURCE" || exit 1
command -v clang-tidy >/dev/null || { echo "skipped: no clang-tidy"; exit 77; }
# Each process: a file takes seconds.
ulimit -t 900
# clang 14 reads the compile commands that CMake wrote for gcc. (Its valist check is off: it takes
# every va_start of x86_64 glibc for none.)
git ls-files "$1/*.c" | xargs -r -n 4 clang-tidy --quiet -p "$MPROF_BUILD" 2>/dev/null
