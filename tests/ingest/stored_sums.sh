#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The calling context tree (call_node, v_call_tree) of real programs is the one that the frames and sums of
# the stacks give, and adds up to the sums of the functions and of the session. The types of stacks and sizes
# (stack_type, size_type) are those of the rows. All this as ingest writes it, as --rebuild makes it again,
# and with several processes.
set -u
ulimit -s 256 # a small stack is enough
run=$MPROF_BUILD/bin/mprof-run ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf stored_sums && mkdir stored_sums && cd stored_sums || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

cat >calls.cpp <<'CPP'
#include <cstdlib>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
static void *kept[1000];
static int used;
__attribute__((noinline)) void *xmalloc(size_t size)
{
    void *block = malloc(size);
    if (!block)
        abort();
    return block;
}
static inline __attribute__((always_inline)) void *made(int size) { return xmalloc(size); }
void descend(int depth)
{
    kept[used++] = depth % 3 ? made(depth) : xmalloc(100);
    if (depth > 0)
        descend(depth - 1);
    if (depth % 5 == 0)
        free(kept[--used]);
}
struct note { long numbers[4]; };
__attribute__((noinline)) static note *make_note(size_t size)
{
    note *made = (note *)malloc(size); /* too small for its type now and then */
    return made;
}
static void fill(std::map<std::string, std::vector<int>> &table, int count)
{
    for (int i = 0; i < count; i++)
        table[std::string(30, 'a') + std::to_string(i)].resize(i);
}
int main(int count, char **names)
{
    (void)names;
    std::map<std::string, std::vector<int>> table;
    std::thread worker([&] { fill(table, 50); });
    worker.join();
    fill(table, 200);
    descend(40);
    for (int i = 0; i < 60; i++)
        free(make_note(i % 3 ? sizeof(note) : 5));
    if (count > 1 && fork() == 0) {
        descend(60);
        execlp("ls", "ls", "/", nullptr);
    }
    wait(nullptr);
    return 0;
}
CPP
g++ -g -O2 -o calls calls.cpp -pthread || exit 1
"$run" --quiet -o one.bin -- ./calls && "$ingest" -q -o one.db one.bin || complain "one process"
"$run" --quiet -o two.bin -- ./calls fork >/dev/null && "$ingest" -q -o two.db two.bin || complain "three programs"
"$run" --quiet --depth=5 -o cut.bin -- ./calls && "$ingest" -q -o cut.db cut.bin || complain "stacks of five frames"
"$run" --quiet --unwind=off -o bare.bin -- ./calls && "$ingest" -q -o bare.db bare.bin || complain "no stacks"
"$ingest" -q -o worked.db "$MPROF_SOURCE/tests/golden/trace/worked.bin" || complain "the worked trace"

for name in one two cut bare worked; do
    cp $name.db again.db
    sqlite3 again.db 'UPDATE call_node SET total_bytes = 7, function_id = 1; DELETE FROM size_type;
        UPDATE stack_type SET bytes = 7' || complain "$name: cannot be changed"
    "$ingest" -q --rebuild again.db || complain "$name: --rebuild"
    for table in call_node stack_type size_type sqlite_stat1; do
        cmp -s <(sqlite3 $name.db "SELECT * FROM $table") <(sqlite3 again.db "SELECT * FROM $table") ||
            complain "$name: --rebuild makes another $table"
    done
    python3 "$MPROF_SOURCE/tests/ingest/stored_sums.py" $name.db again.db || failed=1
done
[ "$(sqlite3 two.db 'SELECT count(*) FROM process')" -ge 3 ] || complain "two.db has too few processes"
several=$(sqlite3 two.db 'SELECT count(*) FROM (SELECT 1 FROM stack_type GROUP BY stack_id HAVING count(*) > 1)')
[ "$several" -ge 1 ] || complain "no stack of two.db has several types"
sqlite3 one.db "SELECT function FROM v_call_tree WHERE function LIKE '%xmalloc%' OR function = 'malloc'" | grep . &&
    complain "allocators are in the tree"
[ "$(sqlite3 bare.db 'SELECT count(*), min(function_id), max(parent_id) FROM call_node')" = '1|0|' ] ||
    complain "without stacks: $(sqlite3 bare.db 'SELECT * FROM call_node')"
plan=$(sqlite3 one.db "EXPLAIN QUERY PLAN WITH RECURSIVE t(id) AS (SELECT id FROM v_call_tree WHERE parent_id IS NULL
    UNION ALL SELECT c.id FROM t JOIN v_call_tree c ON c.parent_id = t.id) SELECT count(*) FROM t")
grep -q 'USING INDEX call_node_parent (parent_id=?)' <<<"$plan" || complain "children are not found by the index: $plan"
exit $failed
