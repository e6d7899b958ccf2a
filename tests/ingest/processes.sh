#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The traces of a program and its children in one session. Each process has in it the same rows,
# stacks, types and sums as in its own session, and the peak is that of all together.
set -u
run=$MPROF_BUILD/bin/mprof-run ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf processes && mkdir processes && cd processes || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

cat >tree.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
struct node { struct node *next; long value; };
static struct node *build(int length)
{
    struct node *list = NULL;
    while (length-- > 0) {
        struct node *node = malloc(sizeof *node);
        node->next = list;
        list = node;
    }
    return list;
}
static void only_in_child(int child)
{
    free(calloc((size_t)child, 1000));
}
int main(void)
{
    struct node *kept = build(300);
    for (int child = 1; child <= 3; child++)
        if (fork() == 0) {
            struct node *own = build(100 * child);
            only_in_child(child);
            free(own);
            _exit(own == kept);
        }
    while (wait(NULL) > 0)
        continue;
    free(kept);
    execlp("ls", "ls", "/", (char *)NULL);
    return 1;
}
C
gcc -g -O1 -fno-builtin -o tree tree.c || exit 1
mkdir traces run
"$run" --quiet -o run/t.bin -- ./tree >/dev/null || exit 1
# Each trace by itself, without the run around it.
cp run/t.bin traces/t.bin
for trace in run/t.bin.d/*; do cp "$trace" "traces/t.bin.$(basename "$trace")"; done
set -- traces/t.bin*
[ $# -eq 5 ] || complain "not five traces: $*"
for trace in "$@"; do
    "$ingest" -q -o "$(basename "$trace").one.db" "$trace" || complain "$trace alone"
done
"$ingest" -o all.db "$@" >out.txt 2>&1 || complain "all of them: $(cat out.txt)"
ls | grep -qE '\.(all|one|part)$' && complain "files were left behind: $(ls)"

# The sums of each process can be made again.
cp all.db rebuilt.db
sqlite3 rebuilt.db "UPDATE process SET allocations = 7, frees = 7, bytes = 7, live_count = 7, live_bytes = 7, peak_bytes = 7, peak_ns = 7"
"$ingest" -q --rebuild rebuilt.db || complain "--rebuild"
cmp -s <(sqlite3 rebuilt.db .dump | sort) <(sqlite3 all.db .dump | sort) || complain "rebuilt processes are others"
rm rebuilt.db

# The next run to the same session removes the files of a killed run, and nothing else.
for files in 2 3; do
    "$ingest" -q --force -o killed.db "$@" &
    pid=$!
    until [ "$(ls -d killed.db.part.* 2>/dev/null | wc -l)" -ge $files ] || ! kill -0 $pid 2>/dev/null; do :; done
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
done
# part PID [TARGET]: the name of a file that process PID makes beside it.
part() { printf '%s.part.%d.0123456789ab' "${2:-killed.db}" "$1"; }
gone=$(sh -c 'echo $$') locked=$(sh -c 'echo $$') text=$(sh -c 'echo $$') link=$(sh -c 'echo $$')
cp all.db "$(part "$gone")" && head -c 100 /dev/zero >"$(part "$gone" "$(part "$gone")")"
cp all.db "$(part "$gone").other" && cp all.db "$(part "$gone" other.db)" && cp all.db killed.db.part
echo text >"$(part "$text")"
ln -s all.db "$(part "$link")"
cp all.db "$(part "$locked")"
flock -x "$(part "$locked")" "$ingest" -q --force -o killed.db "$@" || complain "the run after those killed"
left=$(ls -d killed.db* other.db* | grep -vx killed.db | tr '\n' ' ')
want=$(printf '%s\n' killed.db.part "$(part "$gone").other" "$(part "$gone" other.db)" "$(part "$text")" "$(part "$link")" "$(part "$locked")" | sort | tr '\n' ' ')
[ "$left" = "$want" ] || complain "left behind: $left, not $want"
rm -f killed.db* other.db*

# A second process makes the ingest of the first no dearer.
cat >pairs.c <<'C'
#include <stdlib.h>
int main(void)
{
    for (int i = 0; i < 1000000; i++)
        free(malloc((size_t)i % 700));
    return 0;
}
C
# Names of a file that has just been written are not kept: it may change once more.
gcc -g -O0 -o pairs pairs.c && sleep 3 || exit 1
"$run" --quiet -o pairs.bin -- ./pairs && "$run" --quiet -o both.bin -- sh -c './pairs; true' || exit 1
peak() { # TRACE: KiB
    python3 - "$ingest" "$1" <<'PYTHON'
import os, resource, subprocess, sys
# Threads that take turns: how many batches of rows wait does not depend on the load.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
subprocess.run([sys.argv[1], '-q', '--force', '--cache=' + sys.argv[2] + '.cache', '-o', 'pairs.db', sys.argv[2]], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
}
# The first call keeps the names, so the second one reads no debug information.
peak pairs.bin >/dev/null && peak both.bin >/dev/null
one=$(peak pairs.bin) two=$(peak both.bin)
[ "$two" -le $((one * 13 / 10)) ] || complain "$one KiB for a process, $two KiB with a second one"
rm -rf pairs.* both.*

# A directory means all traces in it. Other files are skipped.
echo 'no trace' >traces/README
"$ingest" -q traces || complain "the directory"
cmp -s <(sqlite3 all.db .dump) <(sqlite3 traces.db .dump) || complain "the directory gives another session"

# A trace that cannot be used is left out, with a message.
head -c 200 traces/t.bin >cut.bin
"$ingest" -q -o rest.db cut.bin "$@" 2>err.txt || complain "with one that is cut"
grep -q 'left out: cut.bin: the file ends' err.txt || complain "left out in silence: $(cat err.txt)"
[ "$(sqlite3 rest.db "SELECT count(*) FROM problem WHERE kind = 'trace left out' AND detail LIKE 'cut.bin%'")" = 1 ] ||
    complain "no problem is noted"
"$ingest" -q -o none.db cut.bin cut.bin 2>err.txt && complain "a session of nothing"
grep -q 'none of the traces' err.txt && [ ! -e none.db ] || complain "of nothing: $(cat err.txt) $(ls)"
"$ingest" -q -o all.db "$@" 2>err.txt && complain "an existing session was replaced"
grep -q 'exists already' err.txt || complain "replaced: $(cat err.txt)"

# The arrays that ingest packed for readers say the same as the tables.
cp all.db plain.db
sqlite3 plain.db 'DELETE FROM packed_array; PRAGMA journal_mode = WAL' >out.txt
"$MPROF_BUILD/tests/check_packed" all.db plain.db >out.txt 2>&1 || complain "packed arrays: $(cat out.txt)"
rm -f plain.db*

# The browser shows one process by its name or its pid.
numbers=$(sqlite3 all.db "SELECT printf('%,d', allocations) || ' of ' || printf('%,d', (SELECT sum(allocations) FROM process)) FROM process WHERE program = 'ls'")
for filter in 'process ls' "process $(sqlite3 all.db "SELECT pid FROM process WHERE program = 'ls'") | where process == ls"; do
    "$MPROF_BUILD/bin/mprof-tui" --filter "$filter" --script /dev/null --size 120x24 all.db >screen.txt 2>&1
    grep -q "$numbers allocations" screen.txt || complain "$filter does not show $numbers: $(head -5 screen.txt)"
done

python3 - all.db ./*.one.db <<'PYTHON' || failed=1
import sqlite3, sys
whole = sqlite3.connect(sys.argv[1])
one = lambda sql, *a: whole.execute(sql, a).fetchone()
def same(what, a, b):
    if a != b:
        sys.exit(f'{what}: {str(a)[:300]} != {str(b)[:300]}')
same('integrity', one('PRAGMA integrity_check'), ('ok',))
same('foreign keys', whole.execute('PRAGMA foreign_key_check').fetchall(), [])
ROWS = '''SELECT a.id - %d, a.address, a.size, a.count, a.kind, a.arena_id, t.tid, a.alloc_ns - %d, a.free_ns - %d,
    a.realloc_of - %d, ty.name, ty.size, ty.confidence, st.state, st.depth,
    (SELECT group_concat(ifnull(function, '?') || ifnull(module, '?') || ifnull(file, '?') || ifnull(line, 0)
        || inlined || pc, ' ') FROM (SELECT * FROM v_stack s WHERE s.stack_id = a.stack_id ORDER BY depth))
    FROM allocation a JOIN thread t ON t.id = a.thread_id JOIN stack st ON st.id = a.stack_id
    LEFT JOIN type ty ON ty.id = a.type_id WHERE t.process_id = %d ORDER BY a.id'''
SUMS = '''SELECT program, argv, allocations, frees, bytes, live_count, live_bytes, peak_bytes, peak_ns - start_ns,
    end_ns - start_ns, ending, trace FROM process WHERE id = %d'''
STACKS = '''SELECT allocations, bytes, live_count, live_bytes, peak_bytes, peak_ns - %d, lifetime_ns FROM stack
    WHERE id IN (SELECT stack_id FROM allocation a JOIN thread t ON t.id = a.thread_id WHERE process_id = %d)
    AND id > 0 ORDER BY id'''
total = 0
for path in sys.argv[2:]:
    single = sqlite3.connect(path)
    pid, start = single.execute("SELECT (SELECT pid FROM process), value FROM meta WHERE key = 'start_monotonic_ns'").fetchone()
    trace = single.execute('SELECT trace FROM process').fetchone()[0]
    process, began = one('SELECT id, start_ns FROM process WHERE trace = ?', trace)
    same('start', began, start - one("SELECT value FROM meta WHERE key = 'start_monotonic_ns'")[0])
    first = one('SELECT min(a.id) - 1 FROM allocation a JOIN thread t ON t.id = a.thread_id WHERE process_id = ?', process)[0]
    rows = single.execute(ROWS % (0, 0, 0, 0, 1)).fetchall()
    same(f'rows of {trace}', whole.execute(ROWS % (first, began, began, first, process)).fetchall(), rows)
    same(f'sums of {trace}', one(SUMS % process), single.execute(SUMS % 1).fetchone())
    same(f'stacks of {trace}', whole.execute(STACKS % (began, process)).fetchall(), single.execute(STACKS % (0, 1)).fetchall())
    total += len(rows)
same('rows', one('SELECT count(*), max(id) FROM allocation'), (total, total))
same('meta', dict(whole.execute('SELECT key, value FROM meta'))['rows'], total)
# The peak, by a sum of our own.
events = [(ns, 1, size) for ns, size in whole.execute('SELECT alloc_ns, size FROM allocation WHERE arena_id = 0')]
events += [(ns, 2 if ns == begin else 0, -size) for ns, begin, size in
           whole.execute('SELECT free_ns, alloc_ns, size FROM allocation WHERE free_ns IS NOT NULL AND arena_id = 0')]
live = peak = 0
for _, _, size in sorted(events):
    live += size
    peak = max(peak, live)
same('peak', one("SELECT value FROM meta WHERE key = 'peak_bytes'")[0], peak)
same('at peak', one('SELECT sum(at_peak_bytes) FROM stack')[0], peak)
same('live', one('SELECT sum(live_bytes) FROM process')[0], live)
# One function for all processes that called it; and by process through the view.
same('build', whole.execute("SELECT count(*), sum(self_count) FROM v_function WHERE function = 'build'").fetchone(), (1, 900))
same('by process', sorted(n for n, in whole.execute(
    "SELECT count(*) FROM v_allocation WHERE function = 'build' GROUP BY pid")), [100, 200, 300, 300])
same('columns', one('SELECT sum(rows) FROM column_chunk')[0], 14 * total)
packed = one('SELECT data FROM packed_array WHERE id = 6')[0]
same('stacks', [int.from_bytes(packed[i:i + 4], 'little') for i in range(0, len(packed), 4)],
     [n for n, in whole.execute('''SELECT (SELECT count(DISTINCT stack_id) FROM allocation a
         WHERE a.id BETWEEN p.first_allocation_id AND p.last_allocation_id AND stack_id > 0 AND arena_id = 0)
         FROM process p ORDER BY p.id''')])
PYTHON
exit $failed
