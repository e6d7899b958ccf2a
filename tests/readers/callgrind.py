# SPDX-License-Identifier: BSD-2-Clause
"""callgrind_annotate reads callgrind: totals, and of each function its own and inclusive bytes."""
import re

import common
from common import Session, check, clean, export, finish, run


def annotate(file, event, *options):
    """Returns the totals and {file:function: number}. Columns have blanks and percentages."""
    text = run('callgrind_annotate', '--threshold=100', f'--show={event}', f'--sort={event}',
               '--auto=no', *options, file).stdout.decode('utf-8')
    total, rows = None, {}
    for line in text.split('\n'):
        found = re.match(r'\s*([\d,]+) \([ \d.]+%\)\s+(.*)$', line)
        if found:
            number = int(found[1].replace(',', ''))
            if found[2] == 'PROGRAM TOTALS':
                total = number
            else:
                rows[found[2].rstrip()] = number
    return total, {name: number for name, number in rows.items() if number}


def labels(session):
    """The name of each function in the reader: file, function, object."""
    known, names = {('?', '???')}, {}
    for function, name, path, module in session.rows(
            'SELECT f.id, f.name, s.path, m.path FROM function f LEFT JOIN source_file s ON '
            's.id = source_file_id LEFT JOIN module m ON m.id = module_id ORDER BY f.id'):
        name, path = clean(name) or '?', clean(path or b'???')
        own = f'{name} #{function}' if (name, path) in known else name
        known.add((name, path))
        names[function] = f'{path}:{own} [{clean(module or b"???")}]'
    return names


def wanted(session, names, column):
    return {names[f]: value for f, value in
            session.rows(f'SELECT function_id, {column} FROM function_total') if value}


checked = 0
for path in common.SESSIONS:
    session = Session(path)
    file = export(path, 'callgrind')
    totals = session.totals()
    if session.sampled:
        check(f'{path} total', annotate(file, 'Bytes')[0], totals[1])
        continue
    names = labels(session)
    for event, column, total in (('Bytes', 'self_bytes', totals[1]), ('Live', 'live_bytes', totals[3]),
                                 ('Blocks', 'self_count', totals[0])):
        if event != 'Bytes' and common.name_of(path) != 'shop':
            continue
        got, rows = annotate(file, event)
        check(f'{path} {event} total', got, total)
        check(f'{path} {event}', rows, wanted(session, names, column))
        checked += 2
    file = export(path, 'callgrind', '--frames', 'all', suffix='.all')
    got, rows = annotate(file, 'Bytes', '--inclusive=yes')
    check(f'{path} root', rows.pop('???:(root) [???]', None), totals[1])
    check(f'{path} inclusive', rows, wanted(session, names, 'total_bytes'))
    checked += 2
session = Session('sessions/shop.db')
got, _ = annotate(export(session.path, 'callgrind'), 'Peak')
check('at the peak', got, session.peak_bytes())
finish(checked + 1)
