#!/usr/bin/env bash
# clang-format and clang-tidy are clean on every C file of ours.
set -u
cd "$MPROF_SOURCE" || exit 1
command -v clang-format >/dev/null && command -v clang-tidy >/dev/null || exit 77
git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror || exit 1
# clang 14 reads the compile commands that CMake wrote for gcc. (Its valist check is off: it takes
# every va_start of x86_64 glibc for none.)
git ls-files 'schemas/*.c' 'capture/*.c' 'ingest/*.c' 'session/*.c' 'tui/*.c' 'report/*.c' |
    xargs -r -P "$(nproc)" -n 6 clang-tidy --quiet -p "$MPROF_BUILD" 2>/dev/null
