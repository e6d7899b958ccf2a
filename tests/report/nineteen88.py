# SPDX-License-Identifier: BSD-2-Clause
"""usage: nineteen88.py SESSION DETAIL TABLES

Reads the tables of 1988 back and compares their numbers with SQL and with each other.
"""
import re
import sqlite3
import sys

path, detail, tables = sys.argv[1:4]
db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
db.text_factory = bytes
meta = {key.decode(): value for key, value in db.execute('SELECT key, value FROM meta')}
sampled = int(meta.get('sampled') or 0)
total = {name: int(meta[key]) for name, key in
         (('allocs', 'allocations'), ('bytes', 'bytes_allocated'), ('frees', 'frees'), ('kept', 'live_bytes_end'))}
failures = []


def check(what, got, wanted):
    if got != wanted:
        failures.append(f'{what}: {got}, not {wanted}')


text = open(tables, encoding='utf-8').read()
parts = re.split(r'^-{9} .*(?:Types|Leaks|Table|Graph) -{12}\n', text, flags=re.M)
check('tables', len(parts), 5)
bins, leaks, direct, graph = parts[1:]
if sampled:
    check('estimates are marked', '~' in bins and '~' in leaks and '~' in graph, True)
    total = None
number = r'~?(\d+)'


def percent(text, part, whole, what):
    share = 100 * part // whole if whole else 0
    wanted = '' if part == 0 else '(.)' if share == 0 else '(**)' if share == 100 else f'({share})'
    check(what, text or '', wanted)


def tenths(part, whole):
    """A percentage with one decimal, truncated."""
    number = 1000 * part // whole if whole else 0
    return f'{number // 10}.{number % 10}'


# Table 1: each bin is a row of size_bin, or in the rest.
row = re.compile(rf'^ *(\d+|> 1024|other bins|<TOTAL>) +{number} +{number}(?: (\([^)]+\)))? +{number} +{number}(?: (\([^)]+\)))?')
seen, sums, last = {}, [0] * 4, None
for line in bins.splitlines():
    found = row.match(line)
    if not found:
        continue
    label, allocs, size_bytes, share, frees, kept, kept_share = found.groups()
    values = [int(x) for x in (allocs, size_bytes, frees, kept)]
    if label == '<TOTAL>':
        last = values
        continue
    seen[label] = values + [share, kept_share]
    sums = [a + b for a, b in zip(sums, values)]
check('the bins sum to the total', sums, last)
for label, values in seen.items():
    percent(values[4], values[1], last[1], f'share of {label}')
    percent(values[5], values[3], last[3], f'share kept of {label}')
if total:
    check('the total is that of meta', last, [total[k] for k in ('allocs', 'bytes', 'frees', 'kept')])
    typed = {size for size, in db.execute('SELECT DISTINCT size FROM allocation WHERE type_id > 0 AND arena_id = 0')}
    for size, allocs, frees, live in db.execute('SELECT size, allocations, frees, live_count FROM size_bin'):
        share = allocs / total['allocs']
        shown = detail == '-verbose' or (size > 100 or share > .002 if detail == '-normal' else
                                         share > .02 or (share > .01 and size in typed))
        if size > 1024:
            shown = False
        check(f'size {size} is shown', str(size) in seen, shown)
        if shown:
            check(f'size {size}', seen[str(size)][:4], [allocs, allocs * size, frees, live * size])

# Table 2: the most kept first; with -verbose all that is kept.
not_freed = int(re.search(rf'^Total bytes not freed: {number}$', leaks, re.M).group(1))
check('bytes not freed', not_freed, last[3])
rows = re.findall(rf'^ *{number}(?: \([^)]+\))? .*?   (\|\||\.\.\.)((?:> |\s>).*)$', leaks, re.M)
kept = [int(x[0]) for x in rows]
check('most kept first', kept, sorted(kept, reverse=True))
least = {'-verbose': 1, '-normal': .005 * not_freed, '-terse': .01 * not_freed}[detail]
check('no path below the limit', all(x >= least and x > 0 for x in kept), True)
if detail == '-verbose':
    check('the paths sum to what is kept', sum(kept), not_freed)

# Table 3: functions sum to the total.
row = re.compile(rf'^ +(-----|[\d.]+) +{number} \|(.{{12}}) \| +{number} \|(.{{12}}) \| +{number}   (.*)$')
rows = [row.match(line).groups() for line in direct.splitlines() if row.match(line)]
check('the first row is the total', rows[0][6] if rows else None, '<TOTAL>')
for line in rows[1:]:
    check(f'share of {line[6]}', line[0], tenths(int(line[1]), last[1]))
for column, name in ((1, 'bytes'), (3, 'kept'), (5, 'calls')):
    check(f'{name} of table 3', sum(int(x[column]) for x in rows[1:]), int(rows[0][column]))
check('bytes of table 3', int(rows[0][1]), last[1])
check('kept of table 3', int(rows[0][3]), last[3])
if total:
    want = sorted(b for b, c in db.execute('SELECT self_bytes, self_count FROM function_total') if c)
    check('bytes of functions', sorted(int(x[1]) for x in rows[1:]), want)
    classes = db.execute('SELECT ' + ', '.join(f'coalesce(sum(size * allocations) FILTER (WHERE size {c}), 0)' for c in
                         ('<= 32', 'BETWEEN 33 AND 256', 'BETWEEN 257 AND 2048', '> 2048')) + ' FROM size_bin').fetchone()
    wanted = ''
    for part in classes:
        share = 100 * part // total['bytes'] if total['bytes'] else 0
        wanted += ' %2s' % ('' if part == 0 else '.' if share == 0 else '**' if share == 100 else share)
    check('breakdown of the total', rows[0][2], wanted)

# Table 4: what ancestors ask for is what a node and its descendents allocate.
line_form = re.compile(rf'^(\[\d+\])? *(all|\d+\.\d)? *{number} *(\([^)]+\))? *\|(.{{12}}) \|(.{{12}}) \|(.*)$')
entries = re.split(r'^\n-+s--m--l--x----s--m--l--x-+\n\n', graph, flags=re.M)[1:]
checked = 0
for entry in entries:
    above, own, below = [], None, []
    for line in entry.splitlines():
        found = line_form.match(line)
        if not found:
            check('a line is one of the same cycle', bool(re.match(r' +\|  +\|  +\| +~?\d+ ', line) or not line), True)
            continue
        index, share, size_bytes, part, _, _, rest = found.groups()
        called = re.match(r' *~?(\d+)(?:([/+])(\d+))?', rest)
        fact = (share, int(size_bytes), part, int(called.group(1)) if called else 0, rest)
        if index:
            own = fact
        else:
            (below if own else above).append(fact)
    if not own or ' as a whole [' in own[4]:
        if own:
            check('members sum to the cycle', sum(x[1] for x in below), own[1])
        continue
    if re.search(r'\S <cycle \d+> \[', own[4]):
        continue
    rows = [x for x in above if x[0] != 'all'], [x for x in below if x[0] != 'all']
    for side, whole in ((above, rows[0]), (below, rows[1])):
        sums = [x[1] for x in side if x[0] == 'all']
        check('a row `all` if there are two or more', len(sums), int(len(whole) > 1))
        if sums:
            check('the row `all`', sums[0], sum(x[1] for x in whole))
    node = own[1] + sum(x[1] for x in rows[1])
    if rows[0]:
        check('ancestors ' + own[4], sum(x[1] for x in rows[0]), node)
        check('calls ' + own[4], sum(x[3] for x in rows[0]), own[3])
    percent(own[2], own[1], node, 'own share ' + own[4])
    check('share ' + own[4], own[0], tenths(node, last[1]))
    for side, whole in ((rows[0], node), (rows[1], node - own[1])):
        check('largest first', [x[1] for x in side], sorted((x[1] for x in side), reverse=True))
        for fact in side:
            percent(fact[2], fact[1], whole, 'share ' + fact[4])
    checked += 1
check('entries', checked > 0, True)
for line in failures[:10]:
    print(line)
sys.exit(1 if failures else 0)
