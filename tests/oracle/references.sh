#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Blocks that nothing reaches at the end of a program, as valgrind counts them without layouts: definitely and indirectly lost
# are unreachable, still reachable is reachable. Layouts only make blocks reachable that are possibly lost for valgrind.
set -u
command -v valgrind >/dev/null || exit 77
bin=$MPROF_BUILD/bin
rm -rf references && mkdir references && cd references || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

cat >circles.cpp <<'CPP'
#include <cstdlib>
#include <list>
#include <memory>
#include <string>
#include <vector>
struct Node { Node *next; long value; };
struct Person { std::string name; std::shared_ptr<Person> other; };
struct First { virtual ~First() {} long a = 1; };
struct Second { virtual ~Second() {} long b = 2; };
struct Both : First, Second { long c = 3; };
struct Tree { Tree *left = nullptr, *right = nullptr, *up = nullptr; };
Node *list;
Second *second; /* leads to a base class inside the block */
char *inside;   /* leads into the middle of a block */
Tree *tree;
std::list<std::string> *names;
static Tree *grow(int depth, Tree *up)
{
    if (depth == 0)
        return nullptr;
    Tree *here = new Tree;
    here->up = up;
    here->left = grow(depth - 1, here);
    here->right = grow(depth - 1, here);
    return here;
}
int main(int count, char **)
{
    for (int i = 0; i < 500; i++)
        list = new Node{list, i};
    for (int i = 0; i < 50; i++) { /* circles that nothing frees */
        auto one = std::make_shared<Person>(), two = std::make_shared<Person>();
        one->name = std::string(64, 'a');
        two->name = std::string(64, 'b');
        one->other = two;
        two->other = one;
    }
    second = new Both;
    inside = static_cast<char *>(std::malloc(5000)) + 100;
    tree = grow(8, nullptr);
    Tree *lost = grow(5, nullptr);
    lost->left->up = nullptr;
    volatile auto address = reinterpret_cast<unsigned long>(lost) ^ 0x5555; /* hidden */
    lost = nullptr;
    names = new std::list<std::string>(20, std::string(100, 'n'));
    void *volatile gone = std::malloc(777);
    gone = nullptr;
    return count > 5 && address == 0;
}
CPP
g++ -g -O1 -fno-builtin -o circles circles.cpp || exit 1
g++ -g -O2 -o holders "$MPROF_SOURCE/docs/examples/holders.cpp" || exit 1

# compare NAME PROGRAM...
compare() {
    local name=$1 lost reachable doubtful
    shift
    "$bin/mprof-run" --quiet --references=end -o "$name.bin" -- "$@" >/dev/null || complain "$name is not recorded"
    "$bin/mprof-ingest" --quiet -o "$name.db" "$name.bin" || complain "$name is not ingested"
    valgrind --leak-check=full --leak-check-heuristics=none --run-libc-freeres=no --run-cxx-freeres=no \
        --show-leak-kinds=none --log-file="$name.valgrind" "$@" >/dev/null
    # If all is freed, valgrind says no more than that.
    count() { tr -d , <"$name.valgrind" | sed -n "s/.* $1: \([0-9]*\) bytes in \([0-9]*\) blocks.*/\\$2/p;s/.*All heap blocks were freed.*/0/p"; }
    ours() { sqlite3 "$name.db" "SELECT ifnull(sum(own_$1), 0) FROM retained_group WHERE kind = 'state' AND key IN ($2)"; }
    for what in 'definitely lost:3' 'indirectly lost:4'; do
        lost="$(count "${what%:*}" 1) $(count "${what%:*}" 2)"
        [ "$lost" = "$(ours bytes "${what#*:}") $(ours count "${what#*:}")" ] ||
            complain "$name, ${what%:*}: valgrind $lost, mprof $(ours bytes "${what#*:}") $(ours count "${what#*:}")"
    done
    # The C library gives its threads' tables other sizes under valgrind, so only blocks are compared.
    reachable=$(count 'still reachable' 2) doubtful=$(count 'possibly lost' 2)
    [ -n "${environment:-}" ] || [ $((reachable + doubtful)) -eq "$(ours count 1,2)" ] && [ "$reachable" -le "$(ours count 1)" ] ||
        complain "$name: valgrind $reachable reachable and $doubtful possibly, mprof $(ours count 1) and $(ours count 2)"
    echo "$name: $(ours count 1) reachable, $(ours count 2) possibly, $(ours count 3,4) unreachable; valgrind $reachable, $doubtful"
    [ "$(ours count 0)" -eq 0 ] || complain "$name: the snapshot is not whole"
}

compare holders ./holders
compare circles ./circles
[ "$(sqlite3 circles.db "SELECT group_concat(reachability) FROM v_retained WHERE type = 'Both'")" = reachable ] ||
    complain "no layout explains a pointer to a base class"
[ "$(sqlite3 circles.db "SELECT group_concat(reachability) FROM v_retained WHERE size = 5000")" = possibly ] ||
    complain "a pointer into the middle is not in doubt"
compare sqlite3 sqlite3 :memory: \
    "CREATE TABLE t(a, b); INSERT INTO t SELECT value, hex(value) FROM generate_series(1, 2000); SELECT count(*) FROM t"
command -v ninja >/dev/null && compare ninja ninja --version
compare jq jq -n '[range(300) | {a: "text \(.)"}] | length'
compare git git --version
compare xz xz --help
compare grep grep -r root /etc/passwd
compare sed sed -n '/root/p' /etc/passwd
# It keeps a copy of all variables of the environment, of which valgrind and mprof-run set different ones.
environment=1
export PYTHONMALLOC=malloc
compare python3 /usr/bin/python3 -S -c "import os; os._exit(0)"
exit $failed
