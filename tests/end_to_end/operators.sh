#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The kind of each form of operator new, built by gcc and clang, with and without optimization,
# with libstdc++ shared and static: by the frames, or by what the caller's code calls.
set -u
rm -rf operators && mkdir operators && cd operators || exit 1
failed=0
cat >expected.txt <<'TEXT'
new|1000|100
new[]|1001|100
new nothrow|1002|100
new[] nothrow|1003|100
new aligned|1536|100
new[] aligned|1664|100
new aligned nothrow|1792|100
new[] aligned nothrow|1920|100
new aligned|64|100
new[]|3000|100
new[] aligned nothrow|3200|100
TEXT
sort expected.txt -o expected.txt
built=0
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || { echo "no $compiler"; exit 77; }
    for flags in "-O0" "-O2" "-O2 -static-libstdc++ -static-libgcc" "-O2 -g"; do
        name=$compiler$(tr -d ' ' <<<"$flags")
        # shellcheck disable=SC2086
        $compiler -std=c++17 $flags -o "$name" "$MPROF_SOURCE/tests/programs/operators.cpp" || exit 1
        "$MPROF_BUILD/bin/mprof-run" --quiet --force -o "$name.bin" -- "./$name" &&
            "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o "$name.db" "$name.bin" || exit 1
        sqlite3 "$name.db" "SELECT kind, size, count(*) FROM v_allocation WHERE kind LIKE 'new%'
            AND size IN (1000, 1001, 1002, 1003, 1536, 1664, 1792, 1920, 64, 3000, 3200)
            GROUP BY 1, 2" | sort >"$name.txt"
        diff expected.txt "$name.txt" || { echo "^ $name"; failed=1; }
        built=$((built + 1))
    done
done
[ $built -eq 8 ] || failed=1
exit $failed
