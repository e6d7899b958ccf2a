#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Lines that must not compile under define_new.h do not, with any compiler and standard. The same
# lines compile between undef_new.h and define_new.h.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0 tried=0

source_of() { # BEFORE LINE AFTER
    printf '#include <cstddef>\n#include <new>\nstruct A { A(); ~A(); int member; };\ntypedef A TenAs[10];\n'
    printf 'struct Own { void *operator new(std::size_t); };\nchar place[100];\n#include "define_new.h"\n'
    printf 'void *use(int n)\n{\n    (void)n;\n%s\n    return %s;\n%s\n}\n' "$1" "$2" "$3"
}
compiles() { # COMPILER STANDARD FILE
    "$1" -std=c++"$2" -fsyntax-only -w -I"$MPROF_SOURCE/capture" -I"$MPROF_SOURCE/capture/cxx" "$3" 2>errors
}

source_of '' 'new A' '' >right.cpp
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || { echo "$compiler: not installed"; continue; }
    for standard in 98 11 14 17 20 2b; do
        compiles $compiler $standard right.cpp || { echo "$compiler $standard: new A does not compile"; cat errors; failed=1; }
        while read -r line; do
            source_of '' "$line" '' >wrong.cpp
            source_of '#include "undef_new.h"' "$line" '#include "define_new.h"' >undefined.cpp
            tried=$((tried + 1))
            compiles $compiler $standard wrong.cpp && { echo "$compiler $standard: compiles: $line"; failed=1; }
            compiles $compiler $standard undefined.cpp || { echo "$compiler $standard: $line"; cat errors; failed=1; }
        done <<'LINES'
new A[n]
new int[5]
new A *[n]
new TenAs
new (place) A
new (std::nothrow) A
new Own
LINES
    done
done
[ $tried -gt 0 ] || exit 77
exit $failed
