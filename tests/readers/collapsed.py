# SPDX-License-Identifier: BSD-2-Clause
"""Collapsed stacks: the sums of each function, its own and with what it calls, and differences. pages.py asks
speedscope, too."""
import collections

import common
from common import Session, check, export, finish


def read(path):
    """Returns the lines as (functions from the outermost inwards, value)."""
    lines = open(path, encoding='utf-8', newline='\n').read().split('\n')
    check(f'{path} ends with a line end', lines.pop(), '')
    stacks = [line.rpartition(' ') for line in lines]
    check(f'{path} lines of their own', len({s for s, _, _ in stacks}), len(stacks))
    return [(s.split(';'), int(v)) for s, _, v in stacks]


def flat(stacks):
    sums = collections.Counter()
    for functions, value in stacks:
        sums[functions[-1]] += value
    return dict(sums)


def cumulated(stacks):
    sums = collections.Counter()
    for functions, value in stacks:
        for function in set(functions):
            sums[function] += value
    return dict(sums)


def colon(name):
    return name.replace(';', ':')


checked = 0
for path in common.SESSIONS:
    session = Session(path)
    for value, column in (('bytes', 'self_bytes'), ('allocations', 'self_count'),
                          ('live_bytes', 'live_bytes'), ('live_count', 'live_count')):
        file = export(path, 'collapsed', '--value', value)
        check(f'{path} {value}', flat(read(file)), session.functions(column, colon))
        checked += 1
    if not session.sampled:
        file = export(path, 'collapsed', '--frames', 'all')
        check(f'{path} all frames', cumulated(read(file)), session.stack_sums(colon))
        at_peak = sum(v for _, v in read(export(path, 'collapsed', '--at', 'peak')))
        check(f'{path} at the peak', at_peak, session.peak_bytes())
        checked += 2

# The difference of a session and itself is nothing, that of two is the difference of the sums.
check('no difference', read(export('sessions/shop.db', 'collapsed', '--base', 'sessions/shop.db')), [])
one, two = (Session(f'sessions/{name}.db').functions('self_bytes') for name in ('shop', 'widgets'))
wanted = {k: one.get(k, 0) - two.get(k, 0) for k in one.keys() | two.keys()}
got = flat(read(export('sessions/shop.db', 'collapsed', '--base', 'sessions/widgets.db')))
check('difference', got, {k: v for k, v in wanted.items() if v})
finish(checked + 2)
