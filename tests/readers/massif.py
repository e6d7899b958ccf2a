# SPDX-License-Identifier: BSD-2-Clause
"""ms_print reads massif: the peak, the end, and the tree of the peak."""
import re

import common
from common import Session, check, export, finish, run


def at_peak(session):
    """Bytes live at the peak by function of the call site."""
    sums = {}
    for function, size in session.rows('SELECT function_id, at_peak_bytes FROM stack'):
        name = session.names[function or 0]
        sums[name] = sums.get(name, 0) + size
    return {k: v for k, v in sums.items() if v}


def number(text):
    return int(text.replace(',', ''))


checked = 0
for path in common.SESSIONS:
    session = Session(path)
    text = run('ms_print', '--threshold=0', export(path, 'massif')).stdout.decode('utf-8')
    snapshots = {int(a): (number(b), number(c)) for a, b, c in re.findall(
        r'^ *(\d+) +([\d,]+) +([\d,]+) +[\d,]+ +0 +0$', text, re.M)}
    marked = re.search(r'Detailed snapshots: \[.*?(\d+) \(peak\)', text)
    if session.sampled:
        check(f'{path} end', max(snapshots.items())[1][1], session.totals()[3])
        continue
    peak = session.peak_bytes()
    check(f'{path} peak', snapshots[int(marked[1])][1] if marked else 0, peak)
    check(f'{path} largest', max(size for _, size in snapshots.values()), peak)
    check(f'{path} end', max(snapshots.items())[1][1], session.totals()[3])
    checked += 3
    if not marked:
        continue
    # The tree follows its snapshot.
    tree = text[re.search(rf'^ *{marked[1]} +[\d,]+ +[\d,]+', text, re.M).end():].split('\n------')[0]
    sums, rest = {}, 0
    for size, place in re.findall(r'^->[\d.]+% \(([\d,]+)B\) (.*)$', tree, re.M):
        found = re.match(r'0x[0-9A-F]+: (.*) \((?:.*:\d+|in .*)\)$', place)
        if found:
            sums[found[1]] = sums.get(found[1], 0) + number(size)
        else:
            rest += number(size)
    wanted = at_peak(session)
    # Places below 1 % are in the rest.
    check(f'{path} tree', sum(sums.values()) + rest, peak)
    for name, size in sums.items():
        more = wanted.get(name, 0) - size
        check(f'{path} {name}', 0 <= more <= rest, True)
    large = {n for n, size in wanted.items() if size * 100 >= peak * 30}
    check(f'{path} large functions', large <= sums.keys(), True)
    checked += 2 + len(sums)
finish(checked)
