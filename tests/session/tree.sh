#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Records real programs, with recursion and with libraries, and compares every node of their calling
# context trees with SQL.
set -euo pipefail
bin=$MPROF_BUILD/bin
tests=$MPROF_BUILD/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # NAME COMMAND...
    local name=$1
    shift
    "$bin/mprof-run" -o "$work/$name.bin" -- "$@" >"$work/$name.out" 2>&1
    "$bin/mprof-ingest" -o "$work/$name.db" "$work/$name.bin" >"$work/$name.summary"
    python3 "$MPROF_SOURCE/tests/session/tree.py" "$tests/print_tree" "$work/$name.db" \
        >"$work/$name.check" || { echo "$name:"; cut -c 1-600 "$work/$name.check"; exit 1; }
    echo "$name: $(cat "$work/$name.check")"
}

check recursion "$tests/recursion"
grep -qv ' 0 cycles' "$work/recursion.check"
check python /usr/bin/python3 -S -c 'print([str(i) * 40 for i in range(300)])'
grep -qv ' 0 of them large' "$work/python.check"
check list ls -lR /usr/include/linux
