#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Frees by forked children of their parents' blocks are paired with the parents' rows: each free
# that the program reports, and no other. Other threads allocated and freed during the forks.
set -u
run=$MPROF_BUILD/bin/mprof-run ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf inherited && mkdir inherited && cd inherited || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

mkdir traces run
"$run" --quiet -o run/t.bin -- "$MPROF_BUILD/tests/inherits" 3>log || exit 1
# Each trace by itself, without the run around it.
cp run/t.bin traces/t.bin
for trace in run/t.bin.d/*; do cp "$trace" "traces/t.bin.$(basename "$trace")"; done
"$ingest" -o all.db traces >out.txt 2>&1 || complain "all of them: $(cat out.txt)"
grep -q '^inherited .*frees of blocks from before a fork$' out.txt || complain "the summary: $(cat out.txt)"
"$ingest" -q -o reversed.db $(ls -r traces/*) || complain "in another order"
cmp -s <(sqlite3 all.db .dump) <(sqlite3 reversed.db .dump) || complain "another order gives another session"

# A child alone seems to have freed its parent's blocks. The parent is missing, or the one between.
trace_of() { sqlite3 all.db "SELECT trace FROM process WHERE id = ($1)"; }
grandchild=$(sqlite3 all.db "SELECT id FROM process WHERE forked_from > 1")
between=$(sqlite3 all.db "SELECT forked_from FROM process WHERE id = $grandchild")
"$ingest" -o alone.db "$(trace_of "$grandchild")" >out.txt 2>&1 || complain "alone: $(cat out.txt)"
grep -q "^inherited .*presumably: only the parent's trace can tell" out.txt || complain "alone: $(cat out.txt)"
grep -q '^problems *none' out.txt || complain "alone, problems: $(cat out.txt)"
"$ingest" -q -o without.db "$(trace_of 1)" "$(trace_of "$grandchild")" || complain "without the one between"

python3 - all.db alone.db without.db log "$grandchild" "$between" <<'PYTHON' || failed=1
import collections, sqlite3, sys
failed = False
def check(what, good, *about):
    global failed
    if not good:
        print('FAILED:', what, *about)
        failed = True
whole, alone, without = (sqlite3.connect(path) for path in sys.argv[1:4])
grandchild, between = map(int, sys.argv[5:7])
signed = lambda n: n - (1 << 64) if n >> 63 else n
told = collections.Counter()
own = 0
for line in open(sys.argv[4]):
    pid, what, address, size = line.split()
    own += what == 'own'
    if what != 'own':
        told[int(pid), 'realloc' if what == 'realloc' else 'free', signed(int(address)), int(size)] += 1
rows = collections.Counter(whole.execute('''SELECT p.pid, iif(f.realloc_to IS NULL, 'free', 'realloc'), f.address, a.size
    FROM inherited_free f JOIN process p ON p.id = f.process_id JOIN allocation a ON a.id = f.allocation_id
    WHERE a.address = f.address'''))
check('frees that were told and not found', not told - rows, list((told - rows).items())[:9])
check('frees that nobody told of', not rows - told, list((rows - told).items())[:9])
meta = dict(whole.execute('SELECT key, value FROM meta'))
check('inherited frees', meta['inherited_frees'] == sum(told.values()), meta['inherited_frees'])
check('presumed', meta['presumed_inherited_frees'] == 0, meta['presumed_inherited_frees'])
check('frees of what nobody allocated', meta['unmatched_frees'] + meta['double_frees'] == 7 and meta['unmatched_frees'] >= 1,
      meta['unmatched_frees'], meta['double_frees'])
check('problems', whole.execute("SELECT count(*) FROM problem WHERE kind LIKE '%free'").fetchone()[0] == 7)
check('overlaps', meta['overlaps'] == 0, meta['overlaps'])
check('own frees', own == 20)
sizes = whole.execute('''SELECT n.size, a.size FROM inherited_free f JOIN allocation n ON n.id = f.realloc_to
    JOIN allocation a ON a.id = f.allocation_id''').fetchall()
check('blocks that realloc made', len(sizes) == 20 and all(n in (9000, a - 1) for n, a in sizes), sizes)
# Nothing counts twice: sums are those of the processes alone, and every row belongs to one process.
check('allocations', meta['allocations'] == whole.execute('SELECT sum(allocations) FROM process').fetchone()[0]
      == whole.execute('SELECT count(*) FROM allocation').fetchone()[0])
check('one block, one free', whole.execute('''SELECT count(*) FROM inherited_free GROUP BY process_id, allocation_id
    HAVING count(*) > 1''').fetchone() is None)
# Inherited blocks, by reference and as a sum.
by_reference = dict((p, (n, b)) for p, n, b in whole.execute('SELECT process_id, count(*), sum(size) FROM v_inherited GROUP BY 1'))
sums = dict((p, (n, b)) for p, n, b in whole.execute('SELECT id, inherited_count, inherited_bytes FROM process WHERE forked_from IS NOT NULL'))
check('what was inherited', by_reference == sums and len(sums) >= 14, by_reference, sums)
check('at least what was kept', all(n >= 180 for n, _ in sums.values()), sums)
check('the grandchild', whole.execute('SELECT count(DISTINCT allocated_by) FROM v_inherited WHERE process_id = ?', (grandchild,)).fetchone() == (2,))
check('executed programs inherit nothing', whole.execute('''SELECT count(*) FROM process WHERE program LIKE '%true'
    AND parent_trace_id = 0 AND forked_from IS NULL AND inherited_count IS NULL AND inherited_frees = 0''').fetchone() == (2,))
# This tests something only if threads were at work during the forks.
check('threads at work during a fork', whole.execute('''SELECT count(*) FROM process c JOIN process p ON p.id = c.forked_from
    JOIN allocation a ON a.id BETWEEN p.first_allocation_id AND p.last_allocation_id
    WHERE a.alloc_ns BETWEEN c.forked_ns AND c.forked_until_ns''').fetchone()[0] > 0)
check('a block was shown', any(size >= 3000 and size < 3010 for _, _, _, size in told))
of_grandchild = whole.execute('SELECT count(*) FROM inherited_free WHERE process_id = ?', (grandchild,)).fetchone()[0]
for name, session in ('alone', alone), ('without the one between', without):
    meta = dict(session.execute('SELECT key, value FROM meta'))
    check(name, meta['inherited_frees'] == meta['presumed_inherited_frees'] == of_grandchild and meta['unmatched_frees'] == 0, meta)
    check(name + ', forked from', session.execute('SELECT count(*) FROM process WHERE forked_from IS NOT NULL').fetchone() == (0,))
sys.exit(failed)
PYTHON

# Blocks that were allocated and freed in the middle of a fork: who had them when it began had them.
mkdir middle
"$MPROF_BUILD/tests/fork_traces" middle && "$ingest" -q -o middle.db middle || complain "in the middle of a fork"
expected='2|2|48|2|2|48
3|1|16|1|1|16'
found=$(sqlite3 middle.db "SELECT id, inherited_count, inherited_bytes, inherited_frees,
  (SELECT count(*) FROM v_inherited WHERE process_id = p.id), (SELECT sum(size) FROM v_inherited WHERE process_id = p.id)
  FROM process p WHERE forked_from IS NOT NULL")
[ "$found" = "$expected" ] || complain "in the middle of a fork: $found"
exit $failed
