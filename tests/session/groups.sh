#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Records real programs and compares every measure of groups with what groups.py computes from the
# rows: threads, custom allocators, several processes, stacks of frees, a sample.
set -euo pipefail
bin=$MPROF_BUILD/bin
tests=$MPROF_BUILD/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # NAME OPTIONS -- COMMAND...
    local name=$1
    shift
    "$bin/mprof-run" -o "$work/$name.bin" "$@" >"$work/$name.out" 2>&1
    "$bin/mprof-ingest" -o "$work/$name.db" "$work/$name.bin" >"$work/$name.summary"
    if ! python3 "$MPROF_SOURCE/tests/session/groups.py" "$tests/print_graph" "$work/$name.db" \
        >"$work/$name.check"; then
        echo "$name:"
        cut -c 1-300 "$work/$name.check"
        exit 1
    fi
    echo "$name: $(cat "$work/$name.check")"
}

check python --free-stacks -- /usr/bin/python3 -S -c 'print([str(i) * 40 for i in range(300)])'
check threads --free-stacks -- "$tests/graphs/handed_over"
check arenas -- "$tests/arena"
check sampled --sample=512 -- /usr/bin/python3 -S -c 'print([str(i) * 40 for i in range(3000)])'
check processes --free-stacks -- sh -c 'ls -l / | sort | tail -1; perl -e "print 1 x 10000"'
(cd "$work" && "$MPROF_SOURCE/tests/session/part.sh" processes.db 'where size > 100 and process is not null' 'where process is not null')
