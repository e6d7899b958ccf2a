# SPDX-License-Identifier: BSD-2-Clause
"""heaptrack_print reads heaptrack: allocations, bytes at the peak, and what was never freed."""
import re

import common
from common import Session, check, clean, export, finish, run


def stacks(file, cost):
    """The reader's own stacks, as its flame graphs have them: exact sums by innermost function."""
    run('heaptrack_print', '-a', '0', '-T', '0', '-p', '0', '-F', 'out/stacks', '--flamegraph-cost-type',
        cost, '--disable-builtin-suppressions', file)
    sums = {}
    for line in open('out/stacks', encoding='utf-8'):
        stack, _, value = line.rstrip('\n').rpartition(' ')
        name = re.sub(r' \([^()]*\)$', '', stack.rstrip(';').split(';')[-1])
        sums[name] = sums.get(name, 0) + int(value)
    return {k: v for k, v in sums.items() if v}


checked = 0
for path in common.SESSIONS:
    session = Session(path)
    file = export(path, 'heaptrack')
    recorded = session.one('SELECT count(*), count(*) - count(free_ns), coalesce(sum(size) FILTER '
                           '(WHERE free_ns IS NULL), 0) FROM allocation WHERE arena_id = 0')
    text = run('heaptrack_print', '-a', '0', '-T', '0', '-p', '0', '-l', '0', file).stdout.decode()
    found = re.search(r'calls to allocation functions: (\d+)', text)
    check(f'{path} calls', int(found[1]), recorded[0])
    check(f'{path} program', clean(session.one("SELECT value FROM meta WHERE key = 'argv'")[0])
          in text, True)
    check(f'{path} leaked', sum(stacks(file, 'leaked').values()), recorded[2])
    if not session.sampled:
        check(f'{path} peak', sum(stacks(file, 'peak').values()), session.peak_bytes())
    checked += 4
    # The reader's flame graphs shorten names with template arguments, and end at main.
    if common.name_of(path) == 'widgets':
        check(f'{path} functions', stacks(file, 'allocations'), session.functions('self_count'))
        checked += 1
    # Sizes, by the reader's histogram.
    run('heaptrack_print', '-a', '0', '-T', '0', '-p', '0', '-H', 'out/sizes', file)
    sizes = {int(a): int(b) for a, b in re.findall(r'^(\d+)\t(\d+)$', open('out/sizes').read(), re.M)}
    check(f'{path} sizes', sizes, dict(session.rows(
        'SELECT size, count(*) FROM allocation WHERE arena_id = 0 GROUP BY 1')))
    checked += 1
finish(checked)
