# SPDX-License-Identifier: BSD-2-Clause
"""google-pprof reads pprof-text: totals, and what each function allocated itself."""
import re

import common
from common import Session, check, clean, export, finish, run


def short(name):
    """The name as google-pprof shows it: without arguments, template arguments and result."""
    name = name.replace('--', '- -')
    while True:
        shorter = re.sub(r'\([^()]*\)(\s*const)?', '', name)
        if shorter == name:
            break
        name = shorter
    name = re.sub(r'<[0-9a-f]*>$', '', name)
    while True:
        shorter = re.sub(r'<[^<>]*>', '', name)
        if shorter == name:
            break
        name = shorter
    return re.sub(r'^.*\s+(\w+::)', r'\1', name, flags=re.ASCII).strip()


def read(*arguments):
    text = run('google-pprof', '--text', '--show_bytes', '--nodefraction=0', '--nodecount=1000000',
               *arguments).stdout.decode('utf-8', 'replace')
    total, flat, cumulated = 0, {}, {}
    for line in text.split('\n'):
        if line.startswith('Total: '):
            total = int(line.split()[1])
        found = re.match(r'\s*(-?\d+)\s+\S+%\s+\S+%\s+(-?\d+)\s+\S+%(?: (.*))?$', line)
        if found:
            name = re.sub(r' \((partial-)?inline\)$', '', found[3] or '').strip()
            flat[name] = flat.get(name, 0) + int(found[1])
            cumulated[name] = int(found[2])
    return total, {k: v for k, v in flat.items() if v}, cumulated


checked = 0
for path in common.SESSIONS:
    session = Session(path)
    file = export(path, 'pprof-text')
    totals = session.totals()
    for number, (option, column) in enumerate((('--alloc_objects', 'self_count'),
                                               ('--alloc_space', 'self_bytes'),
                                               ('--inuse_objects', 'live_count'),
                                               ('--inuse_space', 'live_bytes'))):
        if number != 1 and session.one('SELECT count(*) FROM stack')[0] > 5000:
            continue  # the reader takes a minute for each
        total, flat, _ = read(option, file)
        what = f'{path} {option}'
        check(f'{what} total', total, totals[number])
        wanted = session.functions(column, short)
        for name in wanted.keys() | flat.keys():
            check(f'{what} {name!r}', flat.get(name, 0), wanted.get(name, 0))
        checked += 1 + len(wanted)

# With real addresses the reader finds the names in the program and its libraries.
session = Session('sessions/widgets.db')
for options in ((), ('--frames', 'all')):
    file = export(session.path, 'pprof-text', '--pcs', 'real', *options, suffix='.real')
    total, flat, cumulated = read(f'{common.BUILD}/tests/widgets', '--alloc_space', file)
    check(f'{file} total', total, session.totals()[1])
    check(f'{file} total of main', cumulated.get('main'), session.functions('total_bytes')['main'])
    if not options:
        check(f'{file} flat', flat, session.functions('self_bytes'))
    checked += 3
finish(checked)
