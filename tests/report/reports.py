# SPDX-License-Identifier: BSD-2-Clause
"""usage: reports.py SESSION...

Runs all reports as JSON, and those of the first session in all formats. JSON is checked against the schema of schemas/report.md by
jsonschema, and its numbers against SQL; CSV and JSON have the same rows.
"""
import csv
import io
import json
import math
import os
import re
import sqlite3
import subprocess
import sys

import jsonschema

REPORT = os.environ['MPROF_BUILD'] + '/bin/mprof-report'
page = open(os.environ['MPROF_SOURCE'] + '/schemas/report.md', encoding='utf-8').read()
validator = jsonschema.Draft7Validator(json.loads(re.search(r'^```json\n(.*?)^```', page, re.S | re.M).group(1)))
documented = set(re.findall(r'`(\w+)`', page))
failures, checked = [], 0


def check(what, got, wanted):
    global checked
    checked += 1
    if got != wanted:
        failures.append(f'{what}: {str(got)[:300]}, not {str(wanted)[:300]}')


def run(*options, status=0):
    done = subprocess.run([REPORT, *options], capture_output=True)
    check(f'exit status of {options}: {done.stderr[:200]}', done.returncode, status)
    return done.stdout


STEERS = set(range(0x20)) | set(range(0x7f, 0xa0)) | set(range(0x2028, 0x202f)) | \
    set(range(0x2066, 0x206a)) | {0x061c, 0x200e, 0x200f, 0xfeff}


def quiet(text):
    """A name in CSV: each byte of what could steer a terminal is U+FFFD."""
    return ''.join('\ufffd' * len(c.encode()) if ord(c) in STEERS else c for c in text)


def report(name, *options):
    """Runs a report as JSON, validates it, and compares it with CSV."""
    raw = run(name, '--top', 'all', '--process', 'all', '--format', 'json', *options)
    made = json.loads(raw.decode('utf-8'))
    check(f'{name}: what steers a terminal', {ord(c) for c in raw.decode('utf-8')} & STEERS - {10}, set())
    for error in validator.iter_errors(made):
        failures.append(f'{name} {options}: {list(error.absolute_path)}: {error.message[:200]}')
    named = {key for key in made['facts'] if not key.endswith('_error')} | set(made['tables'])
    for one in made['tables'].values():
        named |= set(one['units'])
    check(f'{name}: names that schemas/report.md lacks', named - documented, set())
    if options[-1] != sys.argv[1]:
        return made
    text = run(name, '--top', 'all', '--process', 'all', *options).decode('utf-8')
    marks = run(name, '--top', 'all', '--process', 'all', '--format', 'markdown', *options).decode('utf-8')
    for line in (text + marks).splitlines():
        if any(ord(letter) < 32 or ord(letter) in range(127, 160) or ord(letter) in range(0x2028, 0x202f) for letter in line):
            failures.append(f'{name}: a control character: {line!r}')
    tables = re.findall(r'(?:^\|.*\n)+', marks, re.M)
    for table in tables:
        cells = {len(re.findall(r'(?<!\\)(?:\\\\)*\|', line)) for line in table.splitlines()}
        check(f'{name}: columns of Markdown', len(cells), 1)
    raw = run(name, '--top', 'all', '--process', 'all', '--format', 'csv', *options).decode('utf-8')
    check(f'{name}: what steers a terminal in CSV', {ord(c) for c in raw} & STEERS - {10, 13}, set())
    comma = list(csv.DictReader(io.StringIO(raw, newline='')))
    if name == 'summary':
        rows = [{'name': key, 'value': value} for key, value in made['facts'].items() if not key.endswith('_error')]
    else:
        rows = next(iter(made['tables'].values()))['rows']
        check(f'{name}: rows', len(rows), next(iter(made['tables'].values()))['count'])
    check(f'{name}: rows of CSV', len(comma), len(rows))
    for left, right in zip(comma, rows):
        for key, value in right.items():
            if key != 'share' and isinstance(value, (str, int)) and not isinstance(value, bool):
                check(f'{name} {key}', left.get(key), quiet(str(value)))
    return made


def table(made, name='groups'):
    return made['tables'][name]['rows']


def clean(raw):
    """A name in JSON: each byte that is not UTF-8 is U+FFFD."""
    if raw is None:
        return None
    out, i = '', 0
    while i < len(raw):
        size = 1 if raw[i] < 0xc0 else 2 if raw[i] < 0xe0 else 3 if raw[i] < 0xf0 else 4
        try:
            glyph = raw[i:i + size].decode('utf-8')
        except UnicodeDecodeError:
            glyph, size = '\ufffd', 1
        out, i = out + glyph, i + size
    return out


def compare(what, rows, wanted):
    """Compares rows as multisets."""
    check(what, sorted(map(repr, rows)), sorted(map(repr, wanted)))


def values(row, *names):
    return tuple(row[name] for name in names)


holes_seen = 0


def mapped_pages(blocks):
    """The least size of a mapped block that begins with a page, by the sizes and offsets of live blocks that show where they lie."""
    for step in range(126, -1, -1):
        shown = [offset >= 16 and offset & (offset - 1) == 0 for size, offset in blocks if offset and step * 1024 <= size < 130048]
        if len(shown) - sum(shown) >= 4 and 2 * sum(shown) <= len(shown):
            return (step + 1) * 1024
    return 0


def alone(blocks, place, pages):
    """A block may have a mapping of its own: by its address, and because no other one lies in its pages."""
    start, size = blocks[place][:2]
    offset, align = start % 4096, start & -start
    if not (offset == 16 and size >= 131049 or offset == 0 and size + align >= pages or
            offset >= 32 and offset & (offset - 1) == 0 and size + align >= 131049):
        return False
    return (place == 0 or sum(blocks[place - 1][:2]) <= (start - 16) // 4096 * 4096) and \
        (place + 1 == len(blocks) or (blocks[place + 1][0] - 16) // 4096 != (start + size - 1) // 4096)


def unknown(blocks, place, pages):
    """Nobody knows what lies between a block and the next one."""
    end, start = sum(blocks[place][:2]), blocks[place + 1][0]
    return (end - 1) >> 26 != start >> 26 or alone(blocks, place, pages) or alone(blocks, place + 1, pages)


def fragmentation(path, db, at, ns):
    """The holes between the blocks that are live at a time, and what lies beside them."""
    global holes_seen
    live = f'a.alloc_ns <= {ns} AND (a.free_ns IS NULL OR a.free_ns > {ns})'
    blocks = db.execute('SELECT a.address & 0x7fffffffffffffff, max(a.size, 1), a.id, s.function_id, a.alloc_ns FROM allocation a '
                        f'LEFT JOIN stack s ON s.id = a.stack_id WHERE a.arena_id = 0 AND {live} ORDER BY 1').fetchall()
    pages = mapped_pages(db.execute(f'SELECT max(a.size, 1), a.address & 4095 FROM allocation a WHERE {live}').fetchall())
    made = report('fragmentation', '--by', 'function', '--at', at, path)
    groups, sizes = {}, []
    for place, (below, above) in enumerate(zip(blocks, blocks[1:])):
        gap = above[0] - below[0] - below[1]
        if not 1024 <= gap < 1 << 24 or unknown(blocks, place, pages):
            continue
        sizes.append(gap)
        for block in {below[3]: (below,), above[3]: (above,)} if below[3] != above[3] else {below[3]: (below, above)}:
            group = groups.setdefault(block, [0, 0, 0, 1 << 64])
            group[0] += gap
            group[1] += 1
        for block in (below, above):
            groups[block[3]][2] += 1
            groups[block[3]][3] = min(groups[block[3]][3], block[4])
    check(f'{path}: time', made['facts']['ns'], ns)
    holes_seen += len(sizes)
    check(f'{path}: holes', (made['facts']['hole_bytes'], made['facts']['hole_count']), (sum(sizes), len(sizes)))
    check(f'{path}: the largest holes', [row['bytes'] for row in table(made, 'holes')], sorted(sizes, reverse=True))
    compare(f'{path}: pins', [values(row, 'hole_bytes', 'holes', 'blocks', 'oldest_ns') for row in table(made)],
            [tuple(group) for group in groups.values()])
    for by in ('user', 'type', 'line', 'module', 'thread', 'stack') if at != 'peak' else ():
        made = report('fragmentation', '--by', by, '--at', at, path)
        check(f'{path}: blocks by {by}', sum(row['blocks'] for row in table(made)), 2 * len(sizes))


def suppressed(path, db, leaked):
    """Leaves out the stacks of one function, by all ways to group."""
    rows = db.execute('SELECT stack_id, function, live_bytes FROM v_leak WHERE function IS NOT NULL').fetchall()
    plain = [row for row in rows if re.fullmatch(rb'[a-z_:]{3,}', row[1])]
    if not plain:
        return
    name = plain[0][1]
    with open('suppressions.txt', 'wb') as out:
        out.write(b'# comment\nrace:other\nleak:^' + name + b'$\n')
    gone = {stack for stack, in db.execute('SELECT DISTINCT stack_id FROM v_stack WHERE function = CAST(? AS TEXT)', (name,))}
    left = leaked - sum(size for stack, _, size in db.execute('SELECT stack_id, function, live_bytes FROM v_leak') if stack in gone)
    for by in ('stack', 'user', 'function', 'type', 'line', 'module', 'thread'):
        made = report('leaks', '--suppress', 'suppressions.txt', '--by', by, path)
        check(f'{path}: leaks by {by} without {name}', sum(row['bytes'] for row in table(made)), left)
        check(f'{path}: the pattern', [row['bytes'] for row in table(made, 'suppressed')], [leaked - left])


def rss(path, db):
    """The ledger of each reading: whole, equal to the views of SQL, by all ways to group."""
    classes = 'live_resident headers holes_resident free_pages stacks files arenas other_anonymous recorder inherited unattributed'.split()
    names = ('live_bytes', 'live_count', 'resident', 'untouched', 'swapped', 'headers', 'pinned', 'pinned_pages', 'last_owned')
    readings = db.execute('SELECT id, ns, present, reason FROM residency ORDER BY process_id, ns, id').fetchall()
    if not readings:
        refused = subprocess.run([REPORT, 'rss', path], capture_output=True)
        check(f'{path}: without readings', (refused.returncode, refused.stdout, refused.stderr.count(b'\n')), (1, b'', 1))
        return
    asked = [((), max(readings, key=lambda reading: (reading[2], -readings.index(reading))))]
    # If several processes were read at this time, the last one counts.
    asked += [(('--at', f'{ns}ns'), one) for ns, one in {one[1]: one for one in readings}.items()]
    for options, (reading, ns, present, reason) in asked:
        made = report('rss', *options, path)
        parts = {row['part']: row['bytes'] for row in table(made, 'parts')}
        check(f'{path}: parts', made['parts'], table(made, 'parts'))
        check(f'{path}: time', (made['facts']['ns'], made['facts']['reason']), (ns, reason.decode()))
        check(f'{path}: the sum at {ns}', (sum(parts[name] for name in classes), parts['rss']), (present, present))
        check(f'{path}: in RSS', {row['part'] for row in table(made, 'parts') if row['in_rss']}, {'rss', *classes})
        check(f'{path}: v_rss', {name: size for name, size in parts.items() if name != 'rss' and size},
              {name.decode(): size for name, size in db.execute(
                  'SELECT class, bytes FROM v_rss WHERE residency_id = ? AND bytes > 0', (reading,))})
        sums = tuple(s or 0 for s in db.execute(
            f"SELECT {', '.join(f'sum({name})' for name in names)} FROM residency_stack WHERE residency_id = ?", (reading,)).fetchone())
        by = {way: table(report('rss', '--by', way, *options, path)) for way in ('user', 'type', 'site')}
        for way, rows in by.items():
            check(f'{path}: the groups by {way}', tuple(sum(row[name] for row in rows) for name in names), sums)
        # The pages are stamped in ticks: its blocks are certain if none came or went in the same nanosecond.
        still = db.execute('SELECT count(*) FROM residency r JOIN allocation a ON r.ns IN (a.alloc_ns, a.free_ns) WHERE r.id = ?',
                           (reading,)).fetchone()[0] == 0
        if still and db.execute('SELECT count(*) FROM process').fetchone()[0] == 1:
            graph = subprocess.run([REPORT.replace('mprof-report', 'mprof-tui'), '--graph', f'run live at {ns}ns | sum resident', path],
                                   capture_output=True, text=True)
            check(f'{path}: sum resident at {ns}', re.findall(r'sum resident: (\d+) bytes', graph.stdout), [str(parts['live_resident'])])
        check(f'{path}: live', (made['facts']['live_bytes'], parts['live_resident'] + parts['live_untouched'] + parts['live_swapped']),
              (sums[0],) * 2)
        compare(f'{path}: v_rss_by_type', [values(row, 'type', *names[:5], 'pinned', 'last_owned') for row in by['type']],
                [(None if name == b'(unknown)' else clean(name), *rest) for name, *rest in db.execute(
                    'SELECT type, live_bytes, live_count, resident, untouched, swapped, pinned, last_owned FROM v_rss_by_type '
                    'WHERE residency_id = ?', (reading,))])
        compare(f'{path}: v_pinned_page', [values(row, 'function', 'pinned', 'pinned_pages') for row in by['site'] if row['pinned']],
                [(clean(name), *rest) for name, *rest in db.execute(
                    'SELECT function, sum(bytes), sum(pages) FROM v_pinned_page WHERE residency_id = ? GROUP BY 1', (reading,))])


def resident(path, db):
    """The bytes in memory at the peak, by function, type and line, are those of the filter language; without readings there are none."""
    known = db.execute('SELECT count(*) FROM residency').fetchone()[0] > 0
    measure = lambda steps: int(re.findall(r'sum resident: (\d+) bytes', subprocess.run(
        [REPORT.replace('mprof-report', 'mprof-tui'), '--graph', f'run live at peak {steps} | sum resident', path],
        capture_output=True, text=True, check=True).stdout)[0])
    for kind in ('functions', 'types', 'lines'):
        rows = table(report(kind, path), kind)
        check(f'{path}: {kind} have the column', {'at_peak_resident' in row for row in rows}, {known} if rows else set())
        if not known or db.execute('SELECT count(*) FROM process').fetchone()[0] > 1: # a graph is about one of several
            continue
        check(f'{path}: resident by {kind}', sum(row['at_peak_resident'] for row in rows), measure(''))
        for row in rows[:2] if kind == 'types' else ():
            if row['type'] is None or '"' not in row['type']:
                test = 'type is null' if row['type'] is None else f'type == "{row["type"]}"'
                check(f'{path}: resident of {row["type"]}', row['at_peak_resident'], measure(f'| where {test}'))


def near(what, got, variance):
    check(f'{what}: {got}, not {math.sqrt(variance)}', got is not None and abs(got - math.sqrt(variance)) <= 1e-6 * math.sqrt(variance),
          True)


def without_error(made):
    """The names of sums that have no standard error."""
    if isinstance(made, list):
        return set().union(*(without_error(one) for one in made))
    if not isinstance(made, dict):
        return set()
    return {key for key, value in made.items() if key.endswith('_error') and value is None}.union(
        *(without_error(value) for value in made.values()))


def errors(path, db, number):
    """Standard errors of a sample: each recorded block adds weight (weight - 1) size^2 to the variance of all sums with it."""
    # The peak of the estimates is not that of the recorded blocks.
    interval, peak = number['sample_interval'], report('peak', path)['facts']['program_peak_ns']
    frames = {}
    for stack, function in db.execute('SELECT stack_id, function_id FROM stack_frame JOIN frame f ON f.id = frame_id'):
        frames.setdefault(stack, set()).add(function)
    names = {id_: clean(name) for id_, name in db.execute('SELECT id, name FROM function')}
    sites = dict(db.execute('SELECT id, function_id FROM stack'))
    wanted, total, functions = {}, {}, {}
    for stack, size, began, freed in db.execute('SELECT stack_id, size, alloc_ns, free_ns FROM allocation WHERE arena_id = 0'):
        weight = -1 / math.expm1(-(size or 1) / interval)
        each = weight * (weight - 1)
        live, at_peak = freed is None, began <= peak and (freed is None or freed > peak)
        sums = {'self_bytes': each * size ** 2, 'self_count': each, 'live_bytes': live * each * size ** 2, 'live_count': live * each,
                'at_peak_bytes': at_peak * each * size ** 2, 'short_lived': each * (not live and freed - began < 1000000)}
        for name, value in sums.items():
            total[name] = total.get(name, 0) + value
            functions.setdefault(sites[stack], {}).setdefault(name, 0)
            functions[sites[stack]][name] += value
        for function in frames[stack]:
            for name, value in (('total_bytes', each * size ** 2), ('total_count', each)):
                functions.setdefault(function, {}).setdefault(name, 0)
                functions[function][name] += value
    by_name = {}
    for function, sums in functions.items():
        by_name.setdefault(names[function], []).append(sums)
    for row in table(report('functions', path), 'functions'):
        if len(by_name[row['function']]) == 1:
            for name in ('self_bytes', 'self_count', 'total_bytes', 'total_count', 'live_bytes', 'live_count', 'at_peak_bytes',
                         'short_lived'):
                near(f"{path}: error of {name} of {row['function']}", row[name + '_error'], by_name[row['function']][0].get(name, 0))
    check('a sample has errors of each kind', {name for name, value in total.items() if not value}, set())
    made = report('leaks', path)
    near('leaked bytes', made['facts']['bytes_error'], total['live_bytes'])
    near('leaked blocks', made['facts']['allocations_error'], total['live_count'])
    near('groups of leaks', math.sqrt(sum(row['bytes_error'] ** 2 for row in table(made))), total['live_bytes'])
    made = report('leaks', '--by', 'function', path)
    near('leaks by function', math.sqrt(sum(row['allocations_error'] ** 2 for row in table(made))), total['live_count'])
    for side in ('', 'base_'):
        made = report('diff', '--base', path, path)
        near(f'diff {side}', made['facts'][side + 'bytes_error'], total['self_bytes'])
        near(f'groups of diff {side}', math.sqrt(sum(row[side + 'live_bytes_error'] ** 2 for row in table(made))), total['live_bytes'])
    near('the peak', report('peak', path)['facts']['program_peak_bytes_error'], total['at_peak_bytes'])
    near('types at the peak', math.sqrt(sum(row['at_peak_bytes_error'] ** 2 for row in table(report('types', path), 'types'))),
         total['at_peak_bytes'])


def against_sql(path):
    db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    db.text_factory = bytes
    meta = {key.decode(): value for key, value in db.execute('SELECT key, value FROM meta')}
    number = {key: int(value) for key, value in meta.items() if isinstance(value, int)}
    sampled = bool(int(meta.get('sampled') or 0))

    made = report('summary', path)
    facts = made['facts']
    check(f'{path}: sampled', made['sampled'], sampled)
    if sampled:
        check('an error beside the sum', facts['bytes_error'] > 0, True)
        check('~ in text', '~' in run('summary', path).decode(), True)
        estimate = db.execute('SELECT sum(allocations), sum(bytes), sqrt(sum(bytes_variance)) FROM estimate').fetchone()
        check('an estimate is near that of SQL', abs(facts['bytes'] - estimate[1]) < 0.01 * estimate[1], True)
        check('its error', abs(facts['bytes_error'] - estimate[2]) < 0.01 * estimate[2] + 1, True)
    else:
        for fact, key in (('allocations', 'allocations'), ('bytes', 'bytes_allocated'), ('frees', 'frees'),
                          ('live_bytes', 'live_bytes_end'), ('live_count', 'live_count_end')):
            check(f'{path}: {fact}', facts[fact], number[key])
        check(f'{path}: leaked', (facts['leaked_bytes'], facts['leaked_count']), db.execute(
            'SELECT coalesce(sum(live_bytes), 0), coalesce(sum(live_count), 0) FROM v_leak').fetchone())
        short = 'SELECT count(*) FROM allocation WHERE arena_id = 0 AND free_ns - alloc_ns < 1000000'
        check(f'{path}: short-lived', facts['short_lived'], db.execute(short).fetchone()[0])
    if sampled:
        for name in ('peak', 'leaks', 'functions', 'types', 'lines', 'sizes', 'short-lived', 'fragmentation'):
            made = report(name, path)
            # Averages, and the largest bytes of a group at any time, are not sums.
            left = {'avg_size_error', 'avg_lifetime_error'} | ({'peak_bytes_error'} if name in ('types', 'lines') else set())
            check(f'{name}: sums without an error', without_error(made) - left, set())
        for options in (('leaks', '--by', 'type'), ('diff', '--base', path)):
            check(f'{options}: sums without an error', without_error(report(*options, path)), set())
        check('summary: sums without an error', without_error(facts), set())
        errors(path, db, number)
        return

    rss(path, db)
    resident(path, db)
    peak_ns = number['peak_ns']
    live = f'a.arena_id = 0 AND a.alloc_ns <= {peak_ns} AND (a.free_ns IS NULL OR a.free_ns > {peak_ns})'
    made = report('peak', '--by', 'type', path)
    compare(f'{path}: peak by type', [values(row, 'type', 'bytes', 'allocations') for row in table(made)],
            [(clean(name), size, count) for name, size, count in db.execute(
                f'SELECT t.name, sum(a.size), count(*) FROM allocation a LEFT JOIN type t ON t.id = a.type_id WHERE {live} '
                'GROUP BY t.name')])
    made = report('peak', '--by', 'function', path)
    check(f'{path}: peak', sum(row['bytes'] for row in table(made)), made['facts']['bytes'])
    made = report('peak', '--at', 'end', '--by', 'thread', path)
    check(f'{path}: live at the end', made['facts']['bytes'], number['live_bytes_end'])
    for by in ('user', 'line', 'module', 'stack'):
        made = report('peak', '--by', by, path)
        check(f'{path}: peak by {by}', sum(row['bytes'] for row in table(made)), made['facts']['bytes'])

    fragmentation(path, db, 'peak', peak_ns)
    if 'pinned' in path:
        fragmentation(path, db, 'idle', db.execute("SELECT ns FROM mark WHERE name = 'idle'").fetchone()[0])
    made = report('diff', '--base', sys.argv[-1], '--by', 'function', path)
    sums = {}
    for side, name in ((0, sys.argv[-1]), (1, path)):
        other = sqlite3.connect(f'file:{name}?mode=ro', uri=True)
        other.text_factory = bytes
        for function, module, *values_ in other.execute('SELECT function, module, sum(bytes), sum(allocations), '
                                                        'sum(live_bytes) FROM v_stack_total GROUP BY 1, 2'):
            sums.setdefault((function, module), [[0] * 3, [0] * 3])[side] = values_
    compare(f'{path}: diff', [values(row, 'function', 'module', 'base_bytes', 'bytes', 'change_bytes', 'change_allocations',
                                     'change_live_bytes') for row in table(made)],
            [(clean(function), clean(module), old[0], new[0], *(n - o for n, o in zip(new, old)))
             for (function, module), (old, new) in sums.items()])
    for by in ('user', 'type', 'line', 'module', 'thread', 'stack'):
        made = report('diff', '--base', path, '--by', by, path)
        check(f'{path}: no change by {by}', [sum(row[name] for row in table(made)) for name in ('change_bytes', 'bytes')],
              [0, number['bytes_allocated']])
    made = report('leaks', path)
    check(f'{path}: leaks', sum(row['bytes'] for row in table(made)), facts['leaked_bytes'])
    check(f'{path}: of the start', sum(row['bytes'] for row in table(made) if row['start_up']), made['facts']['start_up_bytes'])
    check(f'{path}: after the start', sum(row['bytes'] for row in table(made) if not row['start_up']), made['facts']['later_bytes'])
    suppressed(path, db, facts['leaked_bytes'])
    compare(f'{path}: functions', [values(row, 'function', 'self_bytes', 'total_bytes', 'live_bytes', 'at_peak_bytes')
                                   for row in table(report('functions', path), 'functions')],
            [(clean(name), *rest) for name, *rest in db.execute(
                'SELECT name, self_bytes, total_bytes, live_bytes, at_peak_bytes FROM function_total t LEFT JOIN function f '
                'ON f.id = t.function_id WHERE total_count > 0')])
    compare(f'{path}: sizes', [values(row, 'size', 'allocations', 'live_count') for row in table(report('sizes', path), 'sizes')],
            db.execute('SELECT size, allocations, live_count FROM size_bin').fetchall())
    compare(f'{path}: types', [values(row, 'type', 'bytes', 'live_bytes', 'at_peak_bytes')
                               for row in table(report('types', path), 'types')],
            [(clean(name), *rest) for name, *rest in db.execute(
                'SELECT y.name, sum(bytes), sum(live_bytes), sum(at_peak_bytes) FROM type_total t LEFT JOIN type y '
                'ON y.id = t.type_id GROUP BY y.name')])
    compare(f'{path}: lines', [values(row, 'function', 'file', 'line', 'bytes') for row in table(report('lines', path), 'lines')],
            [(clean(function), clean(file), line, size) for function, file, line, size in db.execute(
                'SELECT function, file, nullif(line, 0), sum(bytes) FROM v_stack_total GROUP BY 1, 2, 3')])
    # A finding has what its graph measures for its function and type, by way of a budget.
    for row in table(report('findings', path), 'findings')[:6]:
        if not row['user'] or not row['type'] or re.search(r'["\\\\\x00-\x1f\ufffd]', row['user'] + row['type']):
            continue
        with open('finding.budgets', 'w', encoding='utf-8') as out:
            print(f'n: {row["graph"]} | ungroup | where user == "{row["user"]}" and type == "{row["type"]}" | count >= 0', file=out)
        judged = json.loads(run('--check', 'finding.budgets', '--process', 'all', '--format', 'json', path))
        value = judged['tables']['budgets']['rows'][0]['value']
        # Small steps of realloc() are a row apart from those that the graph infers.
        same = value >= row['allocations'] > 0 if row['graph'] == 'ladders' else value == row['allocations']
        check(f'{path}: finding {row["finding"]} of {row["user"]}: {value} {row["allocations"]}', same, True)
    made = report('short-lived', '--by', 'function', path)
    check(f'{path}: short-lived rows', sum(row['allocations'] for row in table(made)), facts['short_lived'])


for session in sys.argv[1:]:
    against_sql(session)
check('a session has holes', holes_seen > 0, True)
for line in failures[:20]:
    print(line)
print(f'{checked} checks, {len(failures)} failures')
sys.exit(1 if failures else 0)
