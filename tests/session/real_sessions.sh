#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Records real programs and compares the session library's numbers with ingest's.
set -euo pipefail
bin=$MPROF_BUILD/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # NAME COMMAND...
    local name=$1
    shift
    "$bin/mprof-run" -o "$work/$name.bin" -- "$@" >"$work/$name.out" 2>&1
    "$bin/mprof-ingest" -o "$work/$name.db" "$work/$name.bin" >"$work/$name.summary"
    if ! "$MPROF_BUILD/tests/check_session" "$work/$name.db" >"$work/$name.check"; then
        echo "$name:"
        head -20 "$work/$name.check"
        exit 1
    fi
    echo "$name: $(cat "$work/$name.check")"
    # The same facts from the tables alone, all read through SQLite.
    cp "$work/$name.db" "$work/$name-plain.db"
    sqlite3 "$work/$name-plain.db" 'DELETE FROM packed_array; PRAGMA journal_mode = WAL' >"$work/mode"
    "$MPROF_BUILD/tests/check_packed" "$work/$name.db" "$work/$name-plain.db"
}

check list ls -lR /usr/include
check script perl -e 'my %h; $h{$_ % 997} .= "x" x ($_ % 50) for 1..20000; print scalar keys %h'
awk 'BEGIN { for (i = 0; i < 300000; i++) print (i * 7919) % 300007 }' >"$work/numbers"
check threads sort --parallel=4 -S 20M -n "$work/numbers"
