#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Unreachable blocks, as LeakSanitizer finds them in a build of its own. A circle that nothing reaches is only indirectly
# leaked for it, and its oldest block directly for mprof.
set -u
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

cat >leaks.cpp <<'CPP'
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Node { Node *next; long value; };
struct Person { std::string name; std::shared_ptr<Person> other; };
struct Tree { Tree *left, *right; };
static Node *kept;
static std::map<int, std::string> *names;
thread_local std::list<int> *numbers;
static Tree *grow(int depth)
{
    return depth == 0 ? nullptr : new Tree{grow(depth - 1), grow(depth - 1)};
}
__attribute__((noinline)) static void lose()
{
    for (int i = 0; i < 30; i++) {
        auto one = std::make_shared<Person>(), two = std::make_shared<Person>();
        one->name = std::string(64, 'a');
        one->other = two;
        two->other = one;
    }
    for (int i = 0; i < 20; i++)
        static_cast<void>(new std::vector<std::string>(3, std::string(100, 'v')));
    static_cast<void>(grow(6));
    void *volatile gone;
    for (int i = 0; i < 10; i++)
        gone = std::malloc(777);
    gone = nullptr;
}
__attribute__((noinline)) static void keep()
{
    for (int i = 0; i < 100; i++)
        kept = new Node{kept, i};
    names = new std::map<int, std::string>;
    for (int i = 0; i < 50; i++)
        (*names)[i] = std::string(80, 'n');
    numbers = new std::list<int>(40, 7);
}
__attribute__((noinline)) static void clear_stack()
{
    volatile char room[65536];
    for (unsigned i = 0; i < sizeof(room); i++)
        room[i] = 0;
}
int main()
{
    keep();
    lose();
    clear_stack();
    return 0;
}
CPP
g++ -g -O1 -o leaks leaks.cpp && g++ -g -O1 -fsanitize=leak -o with_sanitizer leaks.cpp || fail "the programs are not built"
LSAN_OPTIONS=exitcode=0 ./with_sanitizer 2>sanitizer.txt
grep -q 'SUMMARY: LeakSanitizer' sanitizer.txt || exit 77 # it cannot run here
mprof-run --quiet --references=end -o leaks.bin ./leaks || fail "it is not recorded"
mprof-ingest --quiet -o session.db leaks.bin || fail "it is not ingested"
leaked() { awk -v kind="$1" '$1 == kind { bytes += $4; blocks += $7 } END { print bytes + 0 "|" blocks + 0 }' sanitizer.txt; }
sums="SELECT ifnull(sum(size), 0), count(*) FROM retained r JOIN allocation a ON a.id = r.allocation_id
    LEFT JOIN (SELECT DISTINCT x.to_id FROM reference x JOIN retained h ON h.allocation_id = x.from_id AND h.state >= 3) l
    ON l.to_id = a.id WHERE r.state >= 3"
expect "directly leaked" "$sums AND l.to_id IS NULL" "$(leaked Direct)"
expect "indirectly leaked" "$sums AND l.to_id IS NOT NULL" "$(leaked Indirect)"
expect "kept" "SELECT count(*) FROM v_unreachable WHERE type GLOB '*list*' OR type GLOB '*tree*'" 0
[ "$(leaked Indirect | cut -d'|' -f2)" -gt 200 ] || fail "the sanitizer says too little"
exit $failed
