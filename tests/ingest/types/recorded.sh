#!/usr/bin/env bash
# Types of a real recording: the session of a program has, for each function of it that allocates
# one kind of thing, that type, its confidence and the count of elements.
set -u
failed=0
expect() { # DATABASE SQL RESULT
    local found
    found=$(sqlite3 "$1" "$2")
    [ "$found" = "$3" ] || { failed=1; printf '%s\n  gives    %s\n  not      %s\n' "$2" "$found" "$3"; }
}
record() { # SOURCE COMPILER NAME
    "$2" -g -O2 -o "$3" "$MPROF_SOURCE/tests/programs/types/$1" &&
        "$MPROF_BUILD/bin/mprof-run" -o "$3.bin" "./$3" 2>/dev/null &&
        "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o "$3.db" "$3.bin" || { echo "$3 failed"; exit 1; }
}
rm -f recorded-*
record plain.c gcc recorded-c
expect recorded-c.db "SELECT type, count, size, confidence FROM v_allocation
    WHERE function = 'members' ORDER BY line" "node *|11|88|inferred
point|11|132|inferred
uint64_t|11|88|inferred
nameless|1|16|inferred
table|1|64|inferred
node|1|32|inferred"
expect recorded-c.db "SELECT type, size - count * 16 FROM v_allocation
    WHERE function = 'header_malloc'" "nameless|8"
record objects.cpp g++ recorded-cc
expect recorded-cc.db "SELECT type, count, confidence FROM v_allocation
    WHERE function LIKE 'shapes(%' ORDER BY line" "Circle|1|exact
Dot|1|exact
Shape|1|exact"
# The stored sums are those of the rows.
for session in recorded-c.db recorded-cc.db; do
    expect $session "SELECT type_id, count(*), sum(size), sum(free_ns IS NULL) FROM allocation
        GROUP BY type_id EXCEPT SELECT type_id, allocations, bytes, live_count FROM type_total" ""
    expect $session "SELECT (SELECT sum(allocations) FROM type_total WHERE type_id > 0) -
        (SELECT value FROM meta WHERE key = 'typed_allocations')" "0"
done
exit $failed
