#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Custom allocators by mprof.h: the session has all that a program reports about its arenas, in
# every kind of executable, in C and in C++; and the example of docs/custom-allocators.md.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
normalize='sed s/(.*)//' # C++ names have parameters
here=$MPROF_SOURCE/tests/capture/arenas

record() { # PROGRAM: into session.db, and the child's into child.db
    rm -rf trace.bin* children.d session.db child.db
    mprof-run --quiet -o trace.bin -- "$1" || { echo "$kind: $1: status $?"; failed=1; }
    # Ingest takes each trace by itself, without the run around it.
    [ ! -d trace.bin.d ] || mv trace.bin.d children.d
    mprof-ingest --quiet -o session.db trace.bin || failed=1
    for child in children.d/*; do
        [ -e "$child" ] && { mprof-ingest --quiet -o child.db "$child" || failed=1; }
    done
}
of() { echo "FROM allocation a JOIN arena r ON r.id = a.arena_id WHERE r.name = '$1'"; }

check_calls() {
    record ./calls
    expect "arenas" "SELECT r.name, coalesce(p.name, '-') FROM arena r LEFT JOIN arena p ON p.id = r.parent_id
        ORDER BY r.id" 'pool|-
parent|-
child|parent
grandchild|child
short|pool'
    expect "blocks of the pool" "SELECT size, count, free_ns IS NULL $(of pool) ORDER BY alloc_ns, size" '100|5|1
30|1|0
40|4|0
80|8|0
120|12|1
50|5|0
501|1|1'
    expect "types by tags" "SELECT t.name, t.confidence, t.size, a.size, a.count, a.arena_id > 0 FROM allocation a
        JOIN type t ON t.id = a.type_id WHERE t.name = 'widget_tag' ORDER BY a.size" 'widget_tag|exact|10|40|4|1
widget_tag|exact|10|80|8|1
widget_tag|exact|20|100|5|1
widget_tag|exact|10|120|12|1
widget_tag|exact|333|999|3|0'
    expect "kind" "SELECT DISTINCT k.name FROM allocation a JOIN kind k ON k.id = a.kind WHERE arena_id > 0" arena
    expect "what does not fit" "SELECT kind, count(*) FROM problem WHERE detail LIKE '%arena%' GROUP BY kind" 'double free|1
unmatched free|1'
    expect "a reset ends what is nested" "SELECT r.name, size, free_ns IS NULL FROM allocation a
        JOIN arena r ON r.id = a.arena_id WHERE r.name NOT IN ('pool') ORDER BY r.name, size" 'child|77|1
child|1024|0
grandchild|8|0
grandchild|8|0
parent|4096|0'
    expect "a resized block names the one before" "SELECT b.size, a.size FROM allocation a
        JOIN allocation b ON b.id = a.realloc_of WHERE a.arena_id > 0 ORDER BY a.size" '40|80
80|120'
    expect "the caller of the allocator is the call site" "SELECT function FROM v_allocation WHERE size = 501" outer_caller
    expect "the stack begins at the allocator" "SELECT s.function FROM v_stack s JOIN allocation a USING (stack_id)
        WHERE a.size = 501 AND s.depth < 3 ORDER BY s.depth" 'pool_take
outer_caller
main'
    expect "heap totals are the heap's" "SELECT (SELECT value FROM meta WHERE key = 'bytes_allocated') =
        (SELECT sum(size) FROM allocation WHERE arena_id = 0)" 1
    mv child.db session.db
    expect "a child names its parent's arenas" "SELECT r.name, a.size, a.count, a.free_ns IS NULL
        FROM allocation a JOIN arena r ON r.id = a.arena_id" 'pool|4321|3|0'
}

build() { # COMPILER OPTIONS…
    "$@" -g -fno-builtin -Wall -Wextra -Werror -I"$MPROF_SOURCE" -o calls "$here/arena_calls.c" ||
        { echo "$kind: is not built"; failed=1; }
    ./calls || { echo "$kind: unrecorded it gives $?"; failed=1; }
}
for kind in "cc -O2 -pie -fPIE" "cc -O0 -no-pie -fno-pie" "cc -O2 -no-pie -fno-pie -std=c99" "c++ -O2 -x c++ -std=c++98" \
    "clang -O1" "clang++ -O2 -no-pie -fno-pie -x c++ -std=c++20 -Wno-deprecated"; do
    command -v "${kind%% *}" >/dev/null || { echo "$kind: not installed"; continue; }
    build $kind
    check_calls
done

kind="static with libmprof.a"
# The options to link with, as the page gives them.
wrap=-Wl$(grep -o -- '--wrap=[A-Za-z_]*' "$MPROF_SOURCE/docs/other-allocators.md" | sed 's/^/,/' | tr -d '\n')
build cc -O2 -static
cc -O2 -g -fno-builtin -static -I"$MPROF_SOURCE" -o calls "$here/arena_calls.c" "$MPROF_BUILD/lib/libmprof.a" "$wrap" -Wl,--eh-frame-hdr \
    2>linker || { echo "$kind: is not built"; cat linker; failed=1; }
rm -rf trace.bin*
MPROF_OUTPUT=$PWD/trace.bin ./calls || { echo "$kind: gives $?"; failed=1; }
mprof-ingest --quiet --force -o session.db trace.bin || failed=1
expect "blocks" "SELECT count(*) FROM v_allocation WHERE arena_id > 0 AND process_id = 1" 12
expect "call site" "SELECT function FROM v_allocation WHERE size = 501" outer_caller

kind=disabled
build cc -O2 -DMPROF_DISABLED
left=$(nm calls | grep -c mprof)
[ "$left" -eq 0 ] || { nm calls | grep mprof; failed=1; }

kind=example
record "$MPROF_BUILD/tests/arena"
expect "objects and bytes of the arenas" "SELECT r.name, count(*), sum(a.count), sum(a.size), sum(a.free_ns IS NULL)
    FROM allocation a JOIN arena r ON r.id = a.arena_id GROUP BY r.id" 'kept|40|4000|24000|40
scratch|20|10500|42000|0'
expect "call sites" "SELECT function, count(*), sum(count) FROM v_allocation WHERE arena_id > 0
    GROUP BY function ORDER BY function" 'halves|20|2000
squares|40|12500'
expect "backing" "SELECT count(*), sum(free_ns IS NULL) FROM allocation WHERE arena_id = 0 AND size = 1 << 20" '2|1'

# The browser, too, counts an arena's memory once. Its blocks are shown if the filter asks for them.
shown() { # FILTER TEXT
    printf 'key f\nkey Ctrl-U\ntype %s\nkey Enter\ndump it\n' "$1" >filter.script
    LC_ALL=C.UTF-8 "$MPROF_BUILD/bin/mprof-tui" --script filter.script --size 120x40 session.db | grep -qF "$2" ||
        { echo "browser: $1 does not show $2"; failed=1; }
}
shown 'all' '2 of 62 allocations · peak 2.00 MiB'
shown 'all | where size < 10000' '0 of 62'
shown 'all | where arena == "kept"' '40 of 62 allocations · peak 23.4 KiB'
shown 'live | where arena is not null' '40 of 62'
shown 'all | where arena is null' '2 of 62'
shown 'small = all | where arena is not null | where size < 500; small & live' '20 of 62'
exit $failed
