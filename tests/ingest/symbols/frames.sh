#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Frames of 1,000 random addresses of each program, compared with addr2line; LLVM gives a second
# opinion. frames.sh COMPILER...: a pair "cc c++". Uses the ways of writing debug information that
# differ most; with MPROF_SOAK=1, every way that the compilers know.
set -u
here=$MPROF_SOURCE/tests/ingest/symbols
symbolize=$MPROF_BUILD/tests/symbolize
command -v "$1" addr2line llvm-addr2line /usr/bin/python3 >/dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0

compare() { /usr/bin/python3 "$here/compare_addr2line.py" "$symbolize" "$1" || bad=1; }

# build NAME COMPILER "FLAGS" SOURCES...: once for each set of flags
build() {
    local name=$1 compiler=$2 flags=$3
    shift 3
    # shellcheck disable=SC2086
    (cd "$here/programs" && "$compiler" $flags -w -o "$work/$name" "$@") || { bad=1; return; }
    compare "$name"
}

if [ "$1" = built ]; then
    compare "$MPROF_BUILD/bin/mprof-ingest"
    compare "$MPROF_BUILD/lib/libmprof.so"
    exit $bad
fi
lines_only=-g1
case $1 in clang*) lines_only=-gline-tables-only ;; esac
number=0
ways=("-O2 -gdwarf-5" "-O2 -gdwarf-4" "-O2 $lines_only" "-O2 -g -flto")
[ "${MPROF_SOAK:-0}" = 1 ] && ways+=("-O0 -g" "-O2 -g -ffunction-sections -Wl,--gc-sections" "-O3 -g -no-pie")
for flags in "${ways[@]}"; do
    number=$((number + 1))
    build "c-$1-$number${flags// /}" "$1" "$flags" plain.c
    build "cxx-$1-$number${flags// /}" "$2" "$flags" shapes.cpp second.cpp
done
# Split units: LLVM follows them, addr2line does not.
(cd "$work" && "$2" -O2 -g -gsplit-dwarf -w -o split "$here/programs/shapes.cpp" "$here/programs/second.cpp") || bad=1
compare split
exit $bad
