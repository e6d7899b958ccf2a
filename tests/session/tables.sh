#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Records real programs and compares the tables of leaks with what tables.py computes from the rows:
# C++ with templates, threads, custom allocators, a sample, several processes, suppressions.
set -euo pipefail
bin=$MPROF_BUILD/bin
tests=$MPROF_BUILD/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compare() { # NAME [SUPPRESSIONS]
    if ! python3 "$MPROF_SOURCE/tests/session/tables.py" "$tests/print_tables" "$work/$1.db" ${2+"$2"} \
        >"$work/$1.check" 2>&1; then
        echo "$1:"
        cut -c 1-300 "$work/$1.check"
        exit 1
    fi
    echo "$1: $(cat "$work/$1.check")"
}
check() { # NAME OPTIONS -- COMMAND...
    local name=$1
    shift
    "$bin/mprof-run" -o "$work/$name.bin" "$@" >"$work/$name.out" 2>&1
    "$bin/mprof-ingest" -o "$work/$name.db" "$work/$name.bin" >"$work/$name.summary"
    compare "$name"
}

check templates -- "$tests/graphs/leaking_requests"
check threads --free-stacks -- "$tests/graphs/handed_over"
check arenas -- "$tests/arena"
check sampled --sample=512 -- /usr/bin/python3 -S -c 'print([str(i) * 40 for i in range(3000)])'
check processes -- sh -c 'ls -l / | sort | tail -1; perl -e "print 1 x 10000"'
# The same session, with suppressions that ingest has not read.
printf 'leak:^main$\nleak:libc*so\nleak:zz_nothing\n' >"$work/three.supp"
compare templates "$work/three.supp"
compare processes "$work/three.supp"
