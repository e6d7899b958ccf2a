# SPDX-License-Identifier: BSD-2-Clause
"""csv and ndjson of filter graphs, read by Python's modules: allocations, groups, measures, differences."""
import csv
import functools
import json
import re

import common
from common import STEERS, Session, check, clean, export, finish

checked = 0
for path in common.SESSIONS:
    session = Session(path)
    rows = list(csv.DictReader(open(export(path, 'csv'), encoding='utf-8', newline='')))
    lines = [json.loads(line) for line in open(export(path, 'ndjson'), encoding='utf-8')]
    wanted = session.rows('SELECT id, address, size, alloc_ns, free_ns, stack_id, realloc_of FROM allocation '
                          'WHERE arena_id = 0 ORDER BY alloc_ns, id')
    keys = ('id', 'address', 'size', 'alloc_ns', 'free_ns', 'stack_id', 'realloc_of')
    wanted = [tuple(v if k != 'stack_id' else v or None for k, v in zip(keys, row)) for row in wanted]
    check(f'{path} csv', [tuple(int(r[k]) if r[k] else None for k in keys) for r in rows], wanted)
    check(f'{path} ndjson', [tuple(r[k] for k in keys) for r in lines], wanted)
    sums = {}
    for line in lines:
        sums[line['function']] = sums.get(line['function'], 0) + line['size']
    groups = list(csv.DictReader(open(export(path, 'csv', '--filter', 'all | join function', suffix='.groups'),
                                      encoding='utf-8', newline='')))
    if not session.sampled:
        # Functions of one name are a group.
        joined = {}
        for group in groups:
            joined[group['function'] or None] = joined.get(group['function'] or None, 0) + int(group['bytes'])
        shown = {}
        for name, size in sums.items():
            name = name and clean(name.encode()) or None
            shown[name] = shown.get(name, 0) + size
        check(f'{path} groups', joined, shown)
    count = list(csv.DictReader(open(export(path, 'csv', '--filter', 'all | count', suffix='.count'))))
    check(f'{path} count', int(count[0]['value']), session.totals()[0])
    checked += 4

# All texts of CSV are quoted, and nothing that could steer a terminal is left. NDJSON escapes it: names are whole.
for options, texts in (((), {'kind', 'type', 'function', 'file', 'module', 'thread', 'free_thread', 'arena'}),
                       (('--filter', 'all | join function, type, thread'), {'function', 'type'})):
    raw = {form: open(export('sessions/hostile.db', form, *options, suffix='.hostile'), encoding='utf-8', newline='').read()
           for form in ('csv', 'ndjson')}
    for form, text in raw.items():
        check(f'{form} steers {options}', sorted({hex(ord(c)) for c in text if ord(c) in STEERS - {10}}), [])
    head, *lines = raw['csv'].split('\n')[:-1]
    for line in lines:
        fields = re.findall(r'(?:^|,)("(?:[^"]|"")*"|[^,"]*)', line)
        if len(fields) != len(head.split(',')) or any(f[:1] != '"' for f, n in zip(fields, head.split(','))
                                                      if f and n in texts):
            check(f'a line of csv {options}', line, 'texts in quotes')
    names = {json.loads(line)['function'] for line in raw['ndjson'].split('\n')[:-1]}
    check(f'escaped names {options}', any('\u202e' in n and '\x1b' in n for n in names if n), True)

same = export('sessions/shop.db', 'csv', '--filter', 'all | join function, type', '--base', 'sessions/shop.db')
check('no difference', len(open(same).read().split('\n')), 2)
more = [json.loads(line) for line in open(export('sessions/shop.db', 'ndjson', '--filter', 'all | join function',
                                                 '--base', 'sessions/widgets.db'), encoding='utf-8')]
one, two = (Session(f'sessions/{name}.db').functions('self_bytes') for name in ('shop', 'widgets'))
check('difference', {r['function']: r['bytes'] for r in more if r['bytes']},
      {k: one.get(k, 0) - two.get(k, 0) for k in one.keys() | two.keys() if one.get(k, 0) != two.get(k, 0)})

# Allocations against a base are a multiset: of equal type, size and functions of the stack.
FILTER = 'kept = live; kept | where size > 0'
run = functools.partial(common.run, f'{common.BUILD}/bin/mprof-export', '-f', 'ndjson')
check('no difference of rows', run('--base', 'sessions/shop.db', 'sessions/shop.db').stdout, b'')
lines = [json.loads(line) for line in
         run('--filter', FILTER, '--base', 'sessions/widgets.db', 'sessions/shop.db').stdout.splitlines()]
changes = {sign: sum(line['size'] for line in lines if line['change'] == sign) for sign in (1, -1)}
live = [Session(f'sessions/{name}.db').totals()[3] for name in ('shop', 'widgets')]
check('rows of two programs', changes, {1: live[0], -1: live[1]})
check('the session comes first', [line['change'] for line in lines], sorted((l['change'] for l in lines), reverse=True))
finish(checked + 11)
