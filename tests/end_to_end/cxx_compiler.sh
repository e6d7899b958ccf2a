#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# g++ on a file with many templates: driver, cc1plus and as are recorded into a file each. The object
# is identical, bit by bit, to the one made without recording.
. "$(dirname "$0")/common.sh"
command -v g++ >/dev/null || exit 77

cat >templates.cpp <<'C'
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
template <int N> struct tower { std::map<int, std::vector<tower<N - 1>>> inner; };
template <> struct tower<0> { std::string text; };
int count(const tower<12> &top) { return (int)top.inner.size(); }
std::unordered_map<std::string, std::vector<std::map<int, std::string>>> index_of;
void sort_all(std::vector<std::string> &v)
{
    std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a.size() < b.size(); });
    for (auto &s : v) index_of[s].push_back({{1, s}});
}
C
g++ -O1 -c -o plain.o templates.cpp || fail "g++ alone"
mprof-run -o gpp.bin -- g++ -O1 -c -o recorded.o templates.cpp
is $? -eq 0 "g++'s exit status under recording"
cmp plain.o recorded.o || fail "the object differs"

compiler=
for trace in gpp.bin*; do
    mprof-ingest -o "$trace.db" "$trace" >"$trace.txt" || fail "ingest of $trace: $(cat "$trace.txt")"
    sane "$trace.db"
    echo "$trace: $(meta "$trace.db" program)"
    case $(meta "$trace.db" program) in *cc1plus) compiler=$trace.db ;; esac
done
[ -n "$compiler" ] || fail "no trace of cc1plus among: $(ls gpp.bin*)"
well_unwound "$compiler"
is "$(meta "$compiler" allocations)" -gt 50000 "cc1plus's allocations"
