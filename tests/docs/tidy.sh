#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# tidy.sh FOLDER: clang-tidy is clean on every C file of the folder. "changed" in place of a folder: on
# those that changed since the commit in the file $MPROF_REST_PASSED; of tests it gives clang's warnings only.
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
# Warnings that only gcc knows are switched off in commands for gcc.
tidy() { xargs -r -n 4 clang-tidy --quiet -p "$MPROF_BUILD" --extra-arg=-Wno-unknown-warning-option "${limit[@]}" "$@" 2>/dev/null; }
if [ "$1" != changed ]; then
    sources "$1/*.c" | grep -x "$1/[^/]*" | tidy
    exit
fi
since=$(cat "${MPROF_REST_PASSED:-/nonexistent}" 2>/dev/null) && changed=$(git diff --name-only --diff-filter=d "$since" -- '*.c') ||
    { echo "skipped: no commit is known on which ./dev test --rest passed"; exit 77; }
# Only files that the build compiles have a command.
changed=$(while read -r file; do grep -q "/$file\"" "$MPROF_BUILD/compile_commands.json" && echo "$file"; done <<<"$changed")
failed=0
grep -v '^tests/' <<<"$changed" | tidy || failed=1
grep '^tests/' <<<"$changed" | tidy --checks='-*,clang-diagnostic-*' || failed=1
exit $failed
