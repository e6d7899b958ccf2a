# SPDX-License-Identifier: BSD-2-Clause
"""usage: reports.py SESSION...

Runs all reports as JSON, and those of the first session in all formats. JSON is checked against the schema of schemas/report.md by
jsonschema, and its numbers against SQL; CSV and JSON have the same rows.
"""
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys

import jsonschema

REPORT = os.environ['MPROF_BUILD'] + '/bin/mprof-report'
page = open(os.environ['MPROF_SOURCE'] + '/schemas/report.md', encoding='utf-8').read()
validator = jsonschema.Draft7Validator(json.loads(re.search(r'^```json\n(.*?)^```', page, re.S | re.M).group(1)))
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


def report(name, *options):
    """Runs a report as JSON, validates it, and compares it with CSV."""
    raw = run(name, '--top', 'all', '--process', 'all', '--format', 'json', *options)
    made = json.loads(raw.decode('utf-8'))
    for error in validator.iter_errors(made):
        failures.append(f'{name} {options}: {list(error.absolute_path)}: {error.message[:200]}')
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
    comma = list(csv.DictReader(io.StringIO(run(name, '--top', 'all', '--process', 'all', '--format', 'csv', *options)
                                            .decode('utf-8'), newline='')))
    if name == 'summary':
        rows = [{'name': key, 'value': value} for key, value in made['facts'].items() if not key.endswith('_error')]
    else:
        rows = next(iter(made['tables'].values()))['rows']
        check(f'{name}: rows', len(rows), next(iter(made['tables'].values()))['count'])
    check(f'{name}: rows of CSV', len(comma), len(rows))
    for left, right in zip(comma, rows):
        for key, value in right.items():
            if key != 'share' and isinstance(value, (str, int)) and not isinstance(value, bool):
                check(f'{name} {key}', left.get(key), str(value))
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
        for name in ('peak', 'leaks', 'functions', 'types', 'lines', 'sizes', 'short-lived'):
            report(name, path)
        return

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

    made = report('leaks', path)
    check(f'{path}: leaks', sum(row['bytes'] for row in table(made)), facts['leaked_bytes'])
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
    made = report('short-lived', '--by', 'function', path)
    check(f'{path}: short-lived rows', sum(row['allocations'] for row in table(made)), facts['short_lived'])


for session in sys.argv[1:]:
    against_sql(session)
for line in failures[:20]:
    print(line)
print(f'{checked} checks, {len(failures)} failures')
sys.exit(1 if failures else 0)
