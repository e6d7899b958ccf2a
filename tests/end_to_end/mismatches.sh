#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Blocks whose free does not match their allocation are found, and no others: built by gcc
# and clang, with and without optimization (where the last act of a function is a jump), with the
# operators in the program itself, and stripped. Without stacks of frees only realloc can be told apart.
set -u
rm -rf mismatches && mkdir mismatches && cd mismatches || exit 1
failed=0
cat >expected.txt <<'TEXT'
malloc|delete sized|2005|3
new aligned|delete|2048|3
new[]|delete|2001|3
new[]|free|2004|3
new|delete[]|2002|3
new|free|2003|3
new|realloc|2007|3
TEXT
query="SELECT kind, freed_by, bytes / allocations, sum(allocations) FROM v_mismatch GROUP BY 1, 2, 3"
record() { # NAME PROGRAM OPTIONS…
    local name=$1 program=$2
    shift 2
    "$MPROF_BUILD/bin/mprof-run" --quiet "$@" -o "$name.bin" -- "./$program" &&
        "$MPROF_BUILD/bin/mprof-ingest" --quiet -o "$name.db" "$name.bin" || exit 1
}
for build in "g++ -O2 -g" "g++ -O0" "g++ -O2 -static-libstdc++ -static-libgcc" "g++ -O2 -s" "clang++ -O2"; do
    command -v ${build%% *} >/dev/null || exit 77
    name=$(tr -d ' ' <<<"$build")
    # shellcheck disable=SC2086
    $build -w -fno-builtin -std=c++17 -fsized-deallocation -o "$name" "$MPROF_SOURCE/tests/programs/mismatched.cpp" || exit 1
    record "$name" "$name" --free-stacks
    sqlite3 "$name.db" "$query" | LC_ALL=C sort | sed 's/|20\(06\|48\)|/|2048|/' | diff expected.txt - || { echo "^ $build"; failed=1; }
    [ "$(sqlite3 "$name.db" "SELECT value FROM meta WHERE key = 'mismatched_frees'")" = 21 ] || { echo "$build: meta"; failed=1; }
    [ "$(sqlite3 "$name.db" "SELECT count(*) FROM problem WHERE kind = 'mismatched free' AND address IS NOT NULL")" = 21 ] ||
        { echo "$build: problems"; failed=1; }
    # The kinds of free of the blocks that are freed as they should be.
    freed=$(sqlite3 "$name.db" "SELECT a.size || ' ' || c.function FROM allocation a JOIN free_call c
        ON c.stack_id = a.free_stack_id WHERE a.size BETWEEN 1001 AND 1007 GROUP BY 1 ORDER BY 1" | tr '\n' ';')
    [ "$freed" = "1001 free;1003 free;1004 delete;1005 delete[];1006 delete sized;1007 delete[] sized;" ] ||
        { echo "$build: $freed"; failed=1; }
done
printf 'dump\n' >look
"$MPROF_BUILD/bin/mprof-tui" --script look --size 120x40 "g++-O2-g.db" | grep -q '21 mismatched frees, most (14%) delete sized of what malloc gave' ||
    { echo "the browser says nothing"; failed=1; }
record without "$name"
[ "$(sqlite3 without.db "$query")" = "new|realloc|2007|3" ] || { echo "without stacks: $(sqlite3 without.db "$query")"; failed=1; }
"$MPROF_BUILD/bin/mprof-ingest" --quiet -o both.db without.bin "g++-O0.bin" || exit 1
both=$(sqlite3 both.db "SELECT sum(allocations), count(DISTINCT kind || freed_by), count(free_function) FROM v_mismatch")
[ "$both" = "24|7|6" ] || { echo "two processes: $both"; failed=1; }
exit $failed
