# SPDX-License-Identifier: BSD-2-Clause
"""go tool pprof reads pprof: sums of functions, lines, labels; so does npm's pprof-format."""
import collections
import glob
import json
import os
import re

import common
from common import Session, check, clean, export, finish, run

TOOL = run('go', 'env', 'GOTOOLDIR').stdout.decode().strip() + '/pprof'
VALUES = {'alloc_objects': 'self_count', 'alloc_space': 'self_bytes',
          'inuse_objects': 'live_count', 'inuse_space': 'live_bytes'}
ENVIRONMENT = dict(os.environ, HOME=os.getcwd(), PPROF_TMPDIR=os.getcwd())


def ask(*arguments):
    return run(TOOL, '-symbolize=none', *arguments, env=ENVIRONMENT).stdout.decode('utf-8')


def top(file, value, *options):
    """Returns {name: (flat, cumulated)} and the total."""
    unit = ['-unit=B'] if 'space' in value else []
    text = ask('-top', '-trim=false', '-nodecount=0', '-nodefraction=0', f'-sample_index={value}',
               *unit, *options, file)
    rows = {}
    for line in text.split('\n'):
        found = re.match(r'\s*(-?\d+)B?\s+\S+%\s+\S+%\s+(-?\d+)B?\s+\S+%\s+(.*)$', line)
        if found:
            name = re.sub(r' \((partial-)?inline\)$', '', found[3]).strip()
            flat, cumulated = rows.get(name, (0, 0))
            rows[name] = (flat + int(found[1]), cumulated + int(found[2]))
    total = re.search(r'of (-?\d+)B? total', text)
    return rows, int(total[1]) if total else 0


def raw(file):
    """Sums of all four values, of the whole profile, as the reader has it."""
    sums = [0] * 4
    for line in ask('-raw', file).split('\n'):
        found = re.match(r'\s+(-?\d+)\s+(-?\d+)\s+(-?\d+)\s+(-?\d+): ', line)
        if found:
            sums = [a + int(b) for a, b in zip(sums, found.groups())]
    return tuple(sums)


def focused(file, focus):
    """Returns the bytes of the samples with a label. The total in the head is that of all."""
    return sum(v[0] for v in top(file, 'alloc_space', f'-tagfocus={focus}')[0].values())


checked = 0
for path in common.SESSIONS:
    session = Session(path)
    file = export(path, 'pprof')
    check(f'{path} totals', raw(file), session.totals())
    full = common.name_of(path) in ('shop', 'hostile')
    for value in VALUES if full else ('alloc_space',):
        wanted = session.functions(VALUES[value], str.strip)
        rows, total = top(file, value)
        check(f'{path} {value} total', total, sum(wanted.values()))
        check(f'{path} {value} flat', {k: v[0] for k, v in rows.items() if v[0]}, wanted)
    checked += 3

# With all frames the cumulated sums are those of all stacks with the function. A name counts once.
session = Session('sessions/shop.db')
file = export(session.path, 'pprof', '--frames', 'all', suffix='.all')
wanted = session.stack_sums()
check('cumulated', {k: v[1] for k, v in top(file, 'alloc_space')[0].items() if v[1]}, wanted)

# Labels: a type by its name, sizes from 64 to 128 bytes with both ends, threads.
file = export(session.path, 'pprof')
for name, of_type in session.rows('SELECT t.name, sum(a.size) FROM allocation a JOIN type t ON '
                                  't.id = type_id WHERE arena_id = 0 GROUP BY t.name'):
    name = clean(name)
    check(f'type {name}', focused(file, f'type=^{re.escape(name)}$'), of_type)
    checked += 1
between = session.one('SELECT sum(size) FROM allocation WHERE size BETWEEN 64 AND 128')[0]
check('sizes', focused(file, '64b:128b'), between)
tags = ask('-tags', '-sample_index=alloc_objects', file)
check('labels', sorted(re.findall(r'^ *(\w+): Total', tags, re.M)), ['bytes', 'thread', 'type'])
lines = ask('-top', '-lines', '-nodefraction=0', file)
check('lines', bool(re.search(r'shop::make\S* .*program\.cpp:\d+', lines)), True)
arena = Session('sessions/arena.db')
inside = arena.one('SELECT sum(size) FROM allocation WHERE arena_id > 0')[0]
file = export(arena.path, 'pprof', '--filter', 'all | where arena is not null', suffix='.arena')
check('arena', 'arena: Total' in ask('-tags', '-sample_index=alloc_space', file), True)
check('bytes in arenas', top(file, 'alloc_space')[1], inside)

# A difference, live blocks at a time, and one process of several.
file = export(session.path, 'pprof', '--base', session.path, suffix='.base')
check('no difference', raw(file), (0, 0, 0, 0))
file = export(session.path, 'pprof', '--at', 'peak', suffix='.peak')
check('at the peak', raw(file)[3], session.peak_bytes())
forks = Session('sessions/forks.db')
for pid, allocations, size, live in forks.rows('SELECT pid, allocations, bytes, live_count FROM process'):
    file = export(forks.path, 'pprof', '--process', str(pid), suffix=f'.{pid}')
    check(f'process {pid}', raw(file)[:3], (allocations, size, live))
    checked += 1

# A process that has more blocks than are summed up at once, and whose ids do not begin at 1.
run('rm', '-rf', 'out/crowd.bin', 'out/crowd.bin.d')
run(f'{common.BUILD}/bin/mprof-run', '-q', '-o', 'out/crowd.bin', '--', f'{common.BUILD}/tests/forks',
    'many', '2', '600000')
run(f'{common.BUILD}/bin/mprof-ingest', '--force', '-o', 'out/crowd.db', 'out/crowd.bin')
pid, *wanted = Session('out/crowd.db').one('SELECT pid, allocations, bytes, live_count FROM process '
                                           'ORDER BY id DESC LIMIT 1')
crowd = export('out/crowd.db', 'pprof', '--process', str(pid))
check('a large process', raw(crowd)[:3], tuple(wanted))
# Its windows are parts of its own run: two halves, and the last nanosecond.
for old in glob.glob('out/crowd.0*'):
    os.remove(old)
export('out/crowd.db', 'pprof', '--process', str(pid), '--window', '50%', suffix='.windows')
halves = sorted(glob.glob('out/crowd.0*'))
check('windows of a process', 2 <= len(halves) <= 3, True)
check('what they have', tuple(map(sum, zip(*(raw(half)[:2] for half in halves)))), tuple(wanted[:2]))

# Windows: what was allocated in each, and what was live at its end.
file = export(session.path, 'pprof', '--window', '25%', suffix='.gz')
length = int(session.meta['duration_ns']) * 25 // 100
whole = (0, 0)
for part in range(5):
    start, end = part * length, min((part + 1) * length, int(session.meta['duration_ns']) + 1)
    if start >= end:
        continue
    allocated = session.one('SELECT count(*), coalesce(sum(size), 0) FROM allocation WHERE alloc_ns >= '
                            f'{start} AND alloc_ns < {end}')
    live = session.one('SELECT count(*), coalesce(sum(size), 0) FROM allocation WHERE alloc_ns < '
                       f'{end} AND (free_ns IS NULL OR free_ns >= {end})')
    check(f'window {part}', raw(f'out/shop.{part + 1:04}.pprof.gz'), allocated + live)
    whole = tuple(a + b for a, b in zip(whole, allocated))
    checked += 1
check('all windows', whole, session.totals()[:2])

# Labels that tell machines apart.
file = export(session.path, 'pprof', '--label', 'service=shop', '--label', 'host=web1', suffix='.labels')
for label in 'service=shop', 'host=web1':
    check(f'label {label}', focused(file, label), session.totals()[1])

# The mappings, places and names by another reader.
read = json.loads(run('node', f'{common.SOURCE}/tests/readers/pprof_format.js',
                      export(session.path, 'pprof'), env=common.node_environment()).stdout)
check('npm totals', tuple(read['sums']), session.totals())
check('npm default', read['default'], 'inuse_space')
check('npm functions', {n: v for n, v in read['flat'].items() if v}, session.functions('self_bytes'))
check('npm modules', sorted(read['mappings']), sorted(
    [clean(p), clean(b or b''), s, e, True] for p, b, s, e in
    session.rows('SELECT path, build_id, start_address, end_address FROM module')))
check('npm program', read['mappings'][0][0], clean(session.one(
    "SELECT value FROM meta WHERE key = 'executable'")[0]))
linkage = {clean(n): clean(m or n) for n, m in session.rows('SELECT name, linkage_name FROM function')}
check('npm mangled names', {n: linkage[n] for n in read['system']}, read['system'])
finish(checked + 16)
