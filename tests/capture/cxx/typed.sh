#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Types that a C++ program names by define_new.h and mprof_types.h. With each compiler and each
# standard it compiles without a warning and works. Recorded, the session has the types. Disabled,
# nothing of it is left in the program.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
here=$MPROF_SOURCE/tests/capture/cxx
complain() { echo "$kind: $*"; failed=1; }

build() { # COMPILER OPTIONS…: typed
    rm -f typed
    "$@" -Wall -Wextra -Werror -pedantic -fno-builtin -I"$MPROF_SOURCE/capture" -I"$MPROF_SOURCE/capture/cxx" \
        -o typed "$here/typed.cpp" || complain "is not built"
    ./typed || complain "unrecorded it gives $?"
}
check() { # the recorded program typed
    rm -f trace.bin session.db
    mprof-run --quiet -o trace.bin ./typed || complain "recorded it gives $?"
    mprof-ingest --quiet -o session.db trace.bin || complain "is not ingested"
    # Arrays with a destructor have a cookie of 8 bytes in front, which their sizes include.
    expect "types" "SELECT DISTINCT t.name, a.size, a.count, t.size FROM allocation a JOIN type t ON t.id = a.type_id
        WHERE t.confidence = 'exact' AND t.name NOT LIKE 'Wide%' ORDER BY 1, 2" \
        'IMAGE_BUFFER|5120|1280|4
MESSAGE_TAG|777|1|
float|4|1|4
int|4|1|4
int|40|10|4
int *|8|1|8
shop::Counted|28|5|4
shop::Item|1016|1|1016
shop::Plain|24|1|24
shop::Plain|168|7|24
shop::Special|2016|1|2016
short|18|9|2
std::pair<int, short>|8|1|8'
    cp session.db rebuilt.db
    mprof-ingest --rebuild --quiet rebuilt.db || complain "is not derived again"
    expect "sums of types" "ATTACH 'rebuilt.db' AS b;
        SELECT count(*) FROM (SELECT * FROM type_total EXCEPT SELECT * FROM b.type_total)" 0
    expect "what a throwing constructor leaves is freed" "SELECT count(*) FROM allocation
        WHERE free_ns IS NULL AND (size = 408 OR size = 1016)" 0
}

for compiler in g++ clang++; do
    command -v $compiler >/dev/null || { echo "$compiler: not installed"; continue; }
    for standard in 98 11 14 17 20 2b; do
        kind="$compiler -std=c++$standard"
        build $kind -O2
        check
        kind="$kind -O0 -DMPROF_DISABLED"
        build $kind
        nm -C typed | grep -E 'mprof|Mprof|TYPE_IDENTIFIER|NewTrick|UseNew|New_|LogMemory|SetAllocation' && complain "this is left"
        readelf -n typed | grep -q mprof && complain "a note is left"
    done
    kind="$compiler -O0 -no-pie"
    build $kind -fno-pie -std=c++17
    check
    expect "over-aligned" "SELECT a.count, count(*) FROM allocation a JOIN type t ON t.id = a.type_id
        WHERE t.name = 'Wide' GROUP BY 1" '1|1
3|1'
done

kind="call sites"
build g++ -g -O0
check
expect "of arrays" "SELECT DISTINCT substr(function, 1, 6) FROM v_allocation WHERE type = 'shop::Plain' AND kind = 'new[]'" arrays
expect "kinds" "SELECT k.name, count(*) FROM allocation a JOIN kind k ON k.id = a.kind
        JOIN type t ON t.id = a.type_id WHERE t.name LIKE 'shop::Plain' GROUP BY 1" 'new|1
new[]|1'
    # With debug information types have their members too. A pseudo type has none of its own.
members() {
    expect "members" "SELECT t.name, m.name, m.offset, m.size, m.type FROM type_member m JOIN type t ON t.id = m.type_id
        WHERE t.confidence = 'exact' AND t.name IN ('shop::Plain', 'shop::Special', 'IMAGE_BUFFER') ORDER BY 1, m.position" \
        'shop::Plain|pair|0|24|double [3]
shop::Special||0|1016|shop::Item
shop::Special|more|1012|1000|char [1000]'
}
members
kind="stripped with a debug file"
objcopy --only-keep-debug typed typed.debug
strip typed
objcopy --add-gnu-debuglink=typed.debug typed
check
members
exit $failed
