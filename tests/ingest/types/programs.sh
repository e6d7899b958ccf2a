#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Compiles the programs of tests/programs/types by gcc and clang with -g and -O0, -O1, -O2, runs
# each under the logger and compares the inferred types with those that the program states; for -O2
# also without the source, and in C++ with units of their own for types, in the program and in .dwo
# files. Nothing may be wrong. At least 75 % of the sites in C and 85 % in C++ must be typed.
set -u
shopt -s nullglob
command -v clang >/dev/null && command -v clang++ >/dev/null || exit 77
failed=0
hidden=-fdebug-prefix-map=$MPROF_SOURCE=/nowhere units=-fdebug-types-section
check() {
    local program=$1 compiler=$2 share=$3 level binary
    shift 3
    for level in -O0 -O1 -O2 "-O2 $hidden" "$@"; do
        binary=$(basename "${program%.*}").$compiler${level//[ =\/]/}
        # shellcheck disable=SC2086
        "$compiler" -g $level -fno-builtin-malloc -o "$binary" "$program" || { failed=1; continue; }
        LD_PRELOAD=$MPROF_BUILD/tests/liballocation_logger.so ALLOCATION_LOG=$binary.log "./$binary" ||
            { echo "$binary failed"; failed=1; continue; }
        printf '%-33s' "$(basename "$program") $compiler ${level/$hidden/(no source)}"
        "$MPROF_BUILD/tests/check_types" --quiet --share "$share" "$binary.log" || failed=1
    done
}
for program in "$MPROF_SOURCE"/tests/programs/types/*.c; do
    check "$program" gcc 75
    check "$program" clang 75
done
for program in "$MPROF_SOURCE"/tests/programs/types/*.cpp; do
    for compiler in g++ clang++; do
        check "$program" $compiler 85 "-O2 $units" "-O2 -gdwarf-4 $units" "-O2 -gsplit-dwarf $units" "-O2 -gdwarf-4 -gsplit-dwarf $units"
    done
done
exit $failed
