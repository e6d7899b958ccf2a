#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The C++ programs of tests/programs/types with clang's own library. Allocators and containers of
# libc++ are named as exactly as those of libstdc++, and a node's element has the name that its
# users know. ./dev test unpacks the headers to the directory beside the build.
set -u
headers=$(echo "$MPROF_BUILD"-libcxx/usr/lib/llvm-*/include/c++/v1)
[ -d "$headers" ] || { echo "no headers of libc++ in $MPROF_BUILD-libcxx: ./dev test fetches them"; exit 77; }
failed=0
build() { # LEVEL BINARY SOURCE
    # shellcheck disable=SC2086
    clang++ -g $1 -stdlib=libc++ -nostdinc++ -isystem "$headers" -fno-builtin-malloc -nostdlib++ -o "$2" "$3" \
        -l:libc++.so.1 -l:libc++abi.so.1
}
for program in "$MPROF_SOURCE"/tests/programs/types/*.cpp; do
    for level in -O0 -O1 "-O2 -fdebug-prefix-map=$MPROF_SOURCE=/nowhere"; do
        name=$(basename "$program" .cpp)-libcxx
        build "$level" "$name" "$program" || exit 1
        LD_PRELOAD=$MPROF_BUILD/tests/liballocation_logger.so ALLOCATION_LOG=$name.log "./$name" || exit 1
        printf '%-26s' "$name ${level%% -f*}"
        "$MPROF_BUILD/tests/check_types" --quiet --share 85 "$name.log" || failed=1
    done
done
build -O2 layout-libcxx "$MPROF_SOURCE/tests/ingest/types/layout.cpp" || exit 1
rm -f layout-libcxx.bin
"$MPROF_BUILD/bin/mprof-run" -o layout-libcxx.bin ./layout-libcxx 2>/dev/null &&
    "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o layout-libcxx.db layout-libcxx.bin || exit 1
found=$(sqlite3 layout-libcxx.db "SELECT name, element FROM type WHERE element IS NOT NULL")
wanted='std::__tree_node<std::__value_type<int, long>, void *>|std::pair<const int, long>'
[ "$found" = "$wanted" ] || { failed=1; echo "nodes are $found, not $wanted"; }
exit $failed
