#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Types of a real recording. For each function of the program that allocates one kind of thing, the
# session has that type, its confidence and the count of elements.
set -u
failed=0
expect() { # DATABASE SQL RESULT
    local found
    found=$(sqlite3 "$1" "$2")
    [ "$found" = "$3" ] || { failed=1; printf '%s\n  gives    %s\n  not      %s\n' "$2" "$found" "$3"; }
}
record() { # SOURCE COMPILER NAME
    "$2" -g -O2 -o "$3" "$MPROF_SOURCE/tests/$1" &&
        "$MPROF_BUILD/bin/mprof-run" -o "$3.bin" "./$3" 2>/dev/null &&
        "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o "$3.db" "$3.bin" || { echo "$3 failed"; exit 1; }
}
rm -f recorded-*
record programs/types/plain.c gcc recorded-c
expect recorded-c.db "SELECT type, count, size, confidence FROM v_allocation
    WHERE function = 'members' ORDER BY line" "node_t *|11|88|inferred
point|11|132|inferred
uint64_t|11|88|inferred
nameless|1|16|inferred
table|1|64|inferred
node_t|1|32|inferred"
expect recorded-c.db "SELECT type, extra_bytes FROM v_allocation
    WHERE function = 'header_malloc'" "nameless|8"
# One record, no matter what follows it.
expect recorded-c.db "SELECT type, count, extra_bytes FROM v_allocation
    WHERE function = 'flexible'" "message|1|111"
record programs/types/objects.cpp g++ recorded-cc
expect recorded-cc.db "SELECT type, count, confidence FROM v_allocation
    WHERE function LIKE 'shapes(%' ORDER BY line" "Circle|1|exact
Dot|1|exact
Shape|1|exact"
# Members with their places; the element of a node; candidates, and no row for what did not occur.
members="SELECT m.name, m.offset, m.size, m.type FROM type_member m JOIN type t ON t.id = m.type_id
    WHERE t.name = "
expect recorded-c.db "$members 'node_t' ORDER BY position" "next|0|8|node_t *
at|8|12|point
name|24|8|char *"
for compiler in g++ clang++; do
    record ingest/types/layout.cpp $compiler "recorded-$compiler"
    expect "recorded-$compiler.db" "$members 'padded' ORDER BY position" "|0|16|padded_base
flag|12|1|char
low|13|1|unsigned int
high|13|2|unsigned int
last|16|8|double
state|24|4|(enum at layout.cpp:20)"
    expect "recorded-$compiler.db" "SELECT element FROM type WHERE name LIKE 'std::_Rb_tree_node<%'" \
        "std::pair<const int, long>"
    expect "recorded-$compiler.db" "SELECT group_concat(name) FROM (SELECT DISTINCT c.name
        FROM type_candidate c JOIN v_stack s USING (stack_id)
        WHERE s.function LIKE 'hidden(%' ORDER BY 1)" "secret_one,secret_two"
done
expect recorded-c.db "SELECT count(*) FROM v_type WHERE allocations = 0" "0"
# The stored sums are those of the rows.
for session in recorded-c.db recorded-cc.db; do
    expect $session "SELECT type_id, count(*), sum(size), sum(free_ns IS NULL) FROM allocation
        GROUP BY type_id EXCEPT SELECT type_id, allocations, bytes, live_count FROM type_total" ""
    expect $session "SELECT (SELECT sum(allocations) FROM type_total WHERE type_id > 0) -
        (SELECT value FROM meta WHERE key = 'typed_allocations')" "0"
done
# A linker that folds leaves both names at one address. Then neither constructor is exact.
command -v ld.gold >/dev/null || { echo "skipped: gold, which folds functions, is not installed"; exit $((failed ? 1 : 77)); }
for fold in none all; do
    g++ -g -ffunction-sections -fuse-ld=gold -Wl,--icf=$fold -o recorded-$fold "$MPROF_SOURCE/tests/ingest/types/alike.cpp" &&
        "$MPROF_BUILD/bin/mprof-run" -o recorded-$fold.bin ./recorded-$fold 2>/dev/null &&
        "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o recorded-$fold.db recorded-$fold.bin || exit 1
done
exact="SELECT count(*) FROM v_allocation WHERE function LIKE 'main%' AND confidence = 'exact'"
expect recorded-none.db "$exact" 2
expect recorded-all.db "$exact" 0
exit $failed
