#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# cppcheck's small vectors reserve room in their constructor: how many of all allocations that are.
. "$(dirname "$0")/common.sh"
unpack cppcheck
build_once make -j"$jobs" CXXFLAGS="-O2 -g" cppcheck

cd "$source" || exit 1
mprof-run -q -o "$work/cppcheck.bin" -- ./cppcheck --quiet -Ilib lib/checkbool.cpp >"$work/said.txt" 2>&1 || fail "cppcheck: $(tail "$work/said.txt")"
cd "$work" || exit 1
mprof-ingest -q -o cppcheck.db cppcheck.bin || fail "ingest"
sane cppcheck.db

mprof-export -f csv --filter 'reserves' -o reserves.csv cppcheck.db || fail "the graph"
python3 - reserves.csv "$(meta cppcheck.db allocations)" >found.txt <<'PY'
import csv, sys
rows, all_blocks = list(csv.DictReader(open(sys.argv[1]))), int(sys.argv[2])
print('| user | size | allocations | of all | largest live |\n| --- | ---: | ---: | ---: | ---: |')
for row in rows[:5]:
    print('| {} | {} | {} | {:.1f} % | {} |'.format(row['user'][:70], row['size'], row['allocations'],
                                                    100 * int(row['allocations']) / all_blocks, row['peak_bytes']))
found = sum(int(row['allocations']) for row in rows)
print(f'{all_blocks} allocations, {found} of them by reserve(): {100 * found / all_blocks:.1f} %')
sys.exit(not rows or found < all_blocks // 5)
PY
is $? -eq 0 "the finding"
cat found.txt
on_page cppcheck.md found.txt
reserved=$(mprof-export -f csv --filter 'all | where stack ~ "::reserve\(" | count' cppcheck.db | sed -n 2p | cut -d , -f 3)
is $((reserved * 1000 / $(meta cppcheck.db allocations))) -eq 665 "all calls of reserve(), per mille"
[ "$failed" -ne 0 ] || rm -f cppcheck.bin cppcheck.db # two gigabytes
exit "$failed"
