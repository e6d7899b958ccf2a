#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The user's frames of a real program: containers, lambdas, threads, streams and code before main, with the
# C++ library as a shared and as a static one, with and without optimization and symbols.
set -u
rm -rf user_frames && mkdir user_frames && cd user_frames || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

cat >shop.cpp <<'CPP'
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
namespace shop {
struct Item {
    std::string name;
    int price;
};
template <class T> struct Bag {
    std::vector<T> content;
    void add(T item) { content.push_back(std::move(item)); }
};
__attribute__((noinline)) void fill(Bag<Item> &bag)
{
    for (int i = 0; i < 100; i++)
        bag.add(Item{std::string(40, 'x'), i});
}
__attribute__((noinline)) void work()
{
    std::vector<int> numbers(1000);
    std::function<std::shared_ptr<std::vector<int>>()> copy = [numbers] {
        return std::make_shared<std::vector<int>>(numbers);
    };
    copy();
}
__attribute__((noinline)) void report()
{
    FILE *file = fopen("/dev/null", "w");
    fputs("text", file);
    fclose(file);
}
} // namespace shop
static std::map<int, std::string> table = {{1, std::string(50, 'a')}, {2, std::string(60, 'b')}};
int main()
{
    shop::Bag<shop::Item> bag;
    shop::fill(bag);
    std::thread worker(shop::work);
    worker.join();
    shop::report();
    return (int)table.size() - 2;
}
CPP

users() { # NAME SITE: the functions of the users' frames of stacks whose call site matches, by name
    sqlite3 "$1.db" "SELECT DISTINCT coalesce(u.name, '-') FROM stack s
        JOIN frame sf ON sf.id = s.call_site_frame_id JOIN function f ON f.id = sf.function_id
        LEFT JOIN frame uf ON uf.id = s.user_frame_id LEFT JOIN function u ON u.id = uf.function_id
        WHERE s.allocations > 0 AND f.name LIKE '$2' ORDER BY 1" | sed 's/(.*//' | sort -u | tr '\n' ' '
}

record() { # NAME FLAGS...
    local name=$1
    shift
    "$compiler" -std=c++17 -g "$@" shop.cpp -o "$name" -pthread || { complain "$name: not built"; return; }
    [ "$name" != stripped ] || strip "$name"
    "$MPROF_BUILD/bin/mprof-run" --quiet --force -o "$name.bin" -- "./$name" >/dev/null &&
        "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o "$name.db" "$name.bin" ||
        complain "$name: no session"
}

named() { # NAME: the answers of a program with debug information
    local name=$1 hidden
    hidden=$(sqlite3 "$name.db" "SELECT u.name FROM stack s JOIN frame uf ON uf.id = s.user_frame_id
        JOIN function u ON u.id = uf.function_id LEFT JOIN module m ON m.id = u.module_id
        WHERE u.role IS NOT NULL OR m.name NOT LIKE '$name' OR u.name LIKE 'std::%'
            OR u.name LIKE '% std::%' OR u.name LIKE '\_\_gnu%' ESCAPE '\\'")
    [ -z "$hidden" ] || complain "$name: not the user's own code: $hidden"
    # Each block of fill() belongs to it or to Bag::add, which it calls.
    [ "$(sqlite3 "$name.db" "SELECT count(*) >= 107, count(*) FILTER (WHERE u.name NOT LIKE
            '%shop::fill%' AND u.name NOT LIKE '%shop::Bag<%' AND u.name NOT LIKE '%shop::Item%')
        FROM allocation a JOIN stack s ON s.id = a.stack_id
        LEFT JOIN frame uf ON uf.id = s.user_frame_id LEFT JOIN function u ON u.id = uf.function_id
        WHERE EXISTS (SELECT 1 FROM v_stack v WHERE v.stack_id = s.id
            AND v.function LIKE '%shop::fill%')")" = '1|0' ] || complain "$name: fill"
    # The thread's outermost frames are the C library's.
    [ "$(sqlite3 "$name.db" "SELECT count(*) > 0, count(*) FILTER (WHERE u.name LIKE '%shop::work%')
        = count(*) FROM stack s
        LEFT JOIN frame uf ON uf.id = s.user_frame_id LEFT JOIN function u ON u.id = uf.function_id
        WHERE s.allocations > 0 AND EXISTS (SELECT 1 FROM v_stack v WHERE v.stack_id = s.id
            AND v.function LIKE '%shop::work%')")" = '1|1' ] || complain "$name: work"
    [ "$(sqlite3 "$name.db" "SELECT sum(s.allocations), count(DISTINCT u.name), max(u.name) FROM stack s
        LEFT JOIN frame uf ON uf.id = s.user_frame_id LEFT JOIN function u ON u.id = uf.function_id
        WHERE EXISTS (SELECT 1 FROM v_stack v WHERE v.stack_id = s.id AND v.function LIKE
            '%shop::report%')")" = '2|1|shop::report()' ] || complain "$name: report"
    # Nothing of the user made the pool of the exceptions.
    [ "$(sqlite3 "$name.db" "SELECT count(*) FROM allocation a JOIN stack s ON s.id = a.stack_id
        WHERE a.size IN (72704, 73728) AND s.user_frame_id IS NOT NULL")" = 0 ] || complain "$name: exceptions"
}

for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    [ "$compiler" != g++ ] || { record plain -O0 && named plain; }
    record optimized -O2 && named optimized
    [ "$compiler" != g++ ] || { record static -O2 -static-libstdc++ -static-libgcc && named static; }
    record stripped -O2
    # Without names the module tells the program's frames from the libraries'.
    [ "$(sqlite3 stripped.db "SELECT count(*) FILTER (WHERE m.name <> 'stripped'), count(*) > 5
        FROM stack s JOIN frame uf ON uf.id = s.user_frame_id JOIN module m ON m.id = uf.module_id
        WHERE s.allocations > 0")" = '0|1' ] || complain "stripped: modules"
done
exit $failed
