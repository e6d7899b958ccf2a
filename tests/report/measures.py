# SPDX-License-Identifier: BSD-2-Clause
"""usage: measures.py SESSION...

Collects the numbers of all faces (browser, reports, exports, SQL, filter language) by selection, key and name of the
measure. One name has one number. The filter language has a number for each name of a whole selection, so that no
two faces can agree on a wrong one.
"""
import collections
import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from reference import MEASURES, Span, bytes_of, lived, read_blocks

BIN = os.environ['MPROF_BUILD'] + '/bin/'
EXTENSION = os.environ['MPROF_BUILD'] + '/lib/mprof_sqlite.so'
FILTERS = ['all', 'leaked', 'all | where size > 1000', 'all | where stack has "main"', 'live at 90%', 'all | where lifetime < 1ms', 'all | where arena is not null']
# The measures of a whole selection, as sentences.
SENTENCES = {
    'bytes': '({}) | sum size', 'allocations': '({}) | count', 'peak_bytes': '({}) | peak',
    'live_bytes': '({}) & live | sum size', 'live_count': '({}) & live | count',
    'leaked_bytes': '({}) & leaked | sum size', 'leaked_count': '({}) & leaked | count',
    'at_peak_bytes': '({}) & (live at peak) | sum size', 'at_peak_count': '({}) & (live at peak) | count',
    'short_lived': '({}) | where freed == true and lifetime < 1ms | count',
    'frees': '({}) | where freed == true | count',
    'start_up_bytes': '({}) & leaked | join stack, type | where last_time <= 10% | ungroup | sum size',
    'later_bytes': '({}) & leaked | join stack, type | where last_time > 10% | ungroup | sum size',
}
WORDS = {'self_bytes': 'bytes', 'total_short_count': 'total_short_lived', 'self_count': 'allocations', 'short_count': 'short_lived', 'total_count': 'total_allocations',
         'allocated_bytes': 'bytes', 'self_live_bytes': 'live_bytes', 'self_live_count': 'live_count',
         'self_at_peak_bytes': 'at_peak_bytes', 'self_at_peak_count': 'at_peak_count'}
UNITS = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}
complaints = set()


def complain(text):
    if text not in complaints:
        print(text)
    complaints.add(text)


class Numbers:
    def __init__(self, session):
        self.session, self.found, self.selected = session, collections.defaultdict(dict), {}

    def add(self, selection, key, name, number, face):
        self.found[selection, key, WORDS.get(name, name)].setdefault(int(number), face)

    def check(self):
        for (selection, key, name), numbers in self.found.items():
            if len(numbers) > 1:
                complain(f'{self.session}: {selection}: {key or "all"}: {name}: ' +
                         ', '.join(f'{face} has {number}' for number, face in numbers.items()))
        return len(self.found)


def filter_language(numbers, database, filter):
    for name, sentence in SENTENCES.items():
        value, = database.execute('SELECT value FROM graph(?)', (sentence.format(filter),)).fetchone()
        numbers.add(filter, None, name, value or 0, 'the filter language')


def report(name, session, filter, *options):
    made = subprocess.run([BIN + 'mprof-report', name, '--format', 'json', '--top', 'all', '--filter', filter, *options, session],
                          capture_output=True, check=True)
    return json.loads(made.stdout)


def reports(numbers, session, filter):
    made = report('summary', session, filter)
    for name in SENTENCES:
        if name in made['facts']:
            numbers.add(filter, None, name, made['facts'][name], 'the report summary')
    made = report('leaks', session, filter)
    for fact, name in (('bytes', 'leaked_bytes'), ('allocations', 'leaked_count'), ('start_up_bytes', 'start_up_bytes'),
                       ('later_bytes', 'later_bytes')):
        numbers.add(filter, None, name, made['facts'][fact], 'the report leaks')
    numbers.add(filter, None, 'leaked_bytes', sum(row['bytes'] for row in made['tables']['groups']['rows']), 'the groups of leaks')
    made = report('peak', session, filter)
    numbers.add(filter, None, 'at_peak_bytes', made['facts']['bytes'], 'the report peak')
    numbers.add(None, None, 'program_peak_bytes', made['facts']['program_peak_bytes'], f'the report peak of {filter}')
    numbers.add(None, None, 'program_peak_ns', made['facts']['program_peak_ns'], f'the report peak of {filter}')
    made = report('short-lived', session, filter)
    numbers.add(filter, None, 'short_lived', made['facts']['allocations'], 'the report short-lived')
    numbers.add(filter, None, 'allocations', made['facts']['all_allocations'], 'the report short-lived')
    for name, key in (('types', 'type'), ('sizes', 'size'), ('functions', 'function')):
        rows(numbers, filter, key, report(name, session, filter)['tables'][name]['rows'], f'the report {name}',
             shared=name != 'functions')


def rows(numbers, filter, key, table, face, shared):
    """Adds the rows of a table. Several rows of one key, as functions of one name, are told apart by nothing: left out."""
    totals, names = collections.Counter(), collections.Counter(row[key] or '(unknown)' for row in table)
    for row in table:
        for column, value in row.items():
            name = WORDS.get(column, column)
            if name.removeprefix('total_') not in SENTENCES or value in ('', None):
                continue
            totals[name] += int(value)
            if names[row[key] or '(unknown)'] == 1:
                numbers.add(filter, f'{key} {row[key] or "(unknown)"}', name, value, face)
    for name in totals if shared else ():
        if name != 'peak_bytes':
            numbers.add(filter, None, name, totals[name], f'all rows of {face}')


def browse(session, filter, script):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'script')
        open(path, 'w').write(script.replace('FOLDER', folder))
        run = subprocess.run([BIN + 'mprof-tui', '--fresh', '--filter', filter, '--script', path, '--size', '200x60', session],
                             capture_output=True, text=True)
        files = {name: list(csv.DictReader(open(os.path.join(folder, name), newline=''))) for name in os.listdir(folder)
                 if name.endswith('.csv')}
    if run.returncode != 0:
        complain(f'{session}: {filter}: {run.stderr}')
    return run.stdout, files


VIEWS = {'types': 'type', 'functions': 'function', 'sizes': 'size', 'leaks': 'allocated_by', 'threads': 'tid', 'tree': 'function'}


def browser(numbers, session, filter):
    # Self of functions is that of call sites with S alone.
    script = 'key 1\ndump\n' + ''.join(f'key :\ntype {view}\nkey Enter\n{"key S" if view == "functions" else ""}\ndump\n'
                                        f'key :\ntype w FOLDER/{view}.csv\nkey Enter\ndump\n' for view in VIEWS)
    screen, files = browse(session, filter, script)
    for view in 'types', 'sizes', 'functions':
        rows(numbers, filter, VIEWS[view], files.get(view + '.csv', []), f'the view of {view}', shared=view != 'functions')
    kinds = collections.Counter()
    for row in files.get('leaks.csv', []):
        kinds[row['what']] += int(row['live_bytes'])
    numbers.add(filter, None, 'live_bytes', sum(kinds.values()), 'the view of leaks')
    numbers.add(filter, None, 'start_up_bytes', kinds['early leak'], 'the view of leaks') if not os.path.exists(session[:-3] + '.supp') else 0
    threads = [row for row in files.get('threads.csv', []) if row['thread'].strip()]
    for name in 'bytes', 'allocations', 'live_bytes', 'at_peak_bytes':
        if threads:  # a process and its threads have it twice
            numbers.add(filter, None, name, sum(int(row[name] or 0) for row in threads) // 2, 'the view of threads')
    words(numbers, filter, screen)
    # No line is about the program's peak without that word.
    for line in screen.splitlines():
        if re.search(r'(?<!program )(?<!the )(?<!program\'s )\bat peak|(?<!program )\bpeak (bytes|total)', line) and 'Outside' not in line:
            if not line.startswith(' ▸'):
                complain(f'{session}: {filter}: a peak of no one: {line.strip()}')


# Words of the screen and the measure that each is, with a number in the words.
SAID = [
    (r'^ leaked ([\d.]+) (\w+) in ([\d,]+) blocks?', 'leaked_bytes', 'leaked_count'),
    (r'^ nothing leaked()()()', 'leaked_bytes', 'leaked_count'),
    (r'^ ! ([\d.]+) (\w+) leaked in ([\d,]+) blocks?', 'leaked_bytes', 'leaked_count'),
    (r'^ ✓ nothing leaked()()()', 'leaked_bytes', 'leaked_count'),
    (r' · early ([\d.]+) (\w+)()', 'start_up_bytes', None),
    (r'^ ✓ early leaks, .*?: (?:all )?([\d.]+) (\w+)()', 'start_up_bytes', None),
    (r'^ +peak +([\d.]+) (\w+)() at', 'peak_bytes', None),
    (r'allocations · peak ([\d.]+) (\w+)()', 'peak_bytes', None),
    (r'· live at the end ([\d.]+) (\w+) in ([\d,]+)', 'live_bytes', 'live_count'),
    (r'^ at \S+ \S+  live ([\d.]+) (\w+)() in .*  the peak', 'peak_bytes', None),
    (r'^ (?:~)?[\d,]+ freed blocks, ()()([\d,]+) never freed', None, 'live_count'),
    (r'Totals +allocated +([\d.]+) (\w+) in ([\d,]+)', 'bytes', 'allocations'),
]
said = collections.Counter()


def words(numbers, filter, screen):
    """Compares what the screens say, as far as their digits go."""
    for line in screen.splitlines():
        for place, (pattern, bytes, count) in enumerate(SAID):
            match = re.search(pattern, line)
            if not match:
                continue
            said[place] += 1
            shown, unit, blocks = match.groups()
            exact = next(iter(numbers.found[filter, None, bytes])) if bytes else 0
            step = UNITS[unit] / 10 ** len(shown.partition('.')[2]) if shown else 0
            if abs((float(shown) * UNITS[unit] if shown else 0) - exact) > step:
                complain(f'{numbers.session}: {filter}: {bytes} is {exact}, and the screen says: {line.strip()}')
            if count and int((blocks or '0').replace(',', '')) != next(iter(numbers.found[filter, None, count])):
                complain(f'{numbers.session}: {filter}: {count}: the screen says: {line.strip()}')


def same(field, column=None):
    return lambda row, block: getattr(block, field) == (row[column or field] or None)


def names(row):
    return tuple(row['path'].split('\n'))


def every(row, block):
    return True


def starts(row, block):
    return block.path[:len(row['path'])] == row['path']


def ends(row, block):
    return block.path[::-1][:len(row['path'])] == row['path']


def has_file(row, block):
    return row['file'] in block.files


def slot(row, moments):
    return int(row['from_ns']), int(row['to_ns'])


def between(first, last):
    """The time after one moment, up to another."""
    return lambda row, moments: (moments[first] + 1, moments[last] + 1)


def opened(view):
    return f'key :\ntype {view}\nkey Enter'


# Views whose rows have blocks: the keys that lead there from the view before, the column that names a row, its blocks,
# those of its columns `total_…`, and its part of the run.
VIEWS_OF_ROWS = [
    ('timeline', 'key 2 p', 'from_ns', every, None, slot),
    ('tree, top-down', 'key 4 b C', 'path', None, ends, None),
    ('tree, bottom-up', 'key b', 'path', None, starts, None),
    ('source', opened('source'), 'file', None, has_file, None),
    ('source, live', 'key B', 'file', None, has_file, None),
    ('source, allocated', 'key B', 'file', None, has_file, None),
    ('lines of the last file', 'key End Enter Home', 'line', lambda row, block: ('site', row['file'], int(row['line'])) in block.files,
     lambda row, block: (row['file'], int(row['line'])) in block.files, None),
    ('lifetimes', opened('lifetimes'), 'lifetime', lambda row, block: lived(block, row['lifetime']), None, None),
    ('arenas', opened('arenas'), 'arena', same('arena'), None, None),
    ('diff', opened('diff'), 'type', same('type'), None, between('start', 'peak')),
    ('diff by function', 'key b b g\ntype {A}ns end\nkey Enter', 'function', same('function'), None, between('A', 'end')),
    ('diff by function of yours', 'key b b b', 'user', same('user'), None, between('A', 'end')),
    ('range', 'key 2 v\ntype {A}ns {B}ns\nkey Enter', 'type', same('type'), None, between('A', 'B')),
    ('range by function of yours', 'key Tab', 'user', same('user'), None, between('A', 'B')),
    ('functions of yours', opened('functions'), 'function', same('user', 'function'), lambda row, block: row['function'] in block.path, None),
    ('tree of the range', 'key 4', 'path', None, starts, None),
]
# Columns that are not measures: names, numbers of rows, times, shares, gaps in an arena.
NO_MEASURES = set('''from_ns to_ns bucket_ns level path function line source place share file lifetime share_so_far bar change type
    types user owner module confidence arena kept_bytes unused_bytes holes largest_hole machine id parent_id function_id stack_id
    type_id arena_id stacks recorded resident total_resident allocations_variance bytes_variance stack_and_type arena_and_stack'''.split())
# The words at the heads of tables, and their measures. None: of a name, a share, of all blocks of an arena, or of pages.
HEADINGS = {'program peak': 'at_peak_bytes', 'allocated': 'bytes', 'bytes': 'bytes', 'own': 'bytes', 'count': 'allocations',
            'blocks': 'allocations', 'live': 'live_bytes', 'peak': 'peak_bytes', 'average': 'avg_size', 'objects': 'objects',
            'net': 'net_bytes', 'net blocks': 'net_count', 'at A': 'from_bytes', 'at B': 'to_bytes', 'freed': 'freed_bytes',
            'at end': 'to_bytes', **dict.fromkeys(('<1 ms', 'less', 'more', 'change', 'share', 'so far', 'kept', 'unused', 'growth', 'holes', 'largest', 'is', 'resident',
            'line', 'source', 'where', 'blocks by lifetime', 'type', 'function', 'function of yours', 'file', 'lived', 'arena', 'name'))}
KEY_WORDS = {'user': 'function of yours', 'path': 'function', 'lifetime': 'lived'}


# The same of SQL.
SQL_OF_ROWS = [
    ("SELECT *, bucket_ns AS from_ns, bucket_ns + (SELECT value FROM meta WHERE key = 'timeline_slot_ns') AS to_ns FROM v_timeline",
     'from_ns', every, None, slot),
    ('''WITH RECURSIVE tree(id, level, path) AS (SELECT id, 1, ifnull(function, '') FROM v_call_tree WHERE parent_id IS NULL UNION ALL
        SELECT c.id, level + 1, path || char(10) || ifnull(function, '') FROM v_call_tree c JOIN tree ON c.parent_id = tree.id)
        SELECT c.*, path FROM v_call_tree c JOIN tree USING (id)''', 'path',
     lambda row, block: names(row) == block.path[::-1], lambda row, block: names(row) == block.path[::-1][:len(names(row))], None),
    ('SELECT * FROM v_stack_total', 'stack_id', same('stack', 'stack_id'), None, None),
    ('SELECT *, stack_id || type AS stack_and_type FROM v_stack_type', 'stack_and_type',
     lambda row, block: (row['stack_id'], row['type']) == (block.stack, block.type), None, None),
    ('SELECT * FROM v_user_function', 'function', same('user', 'function'), None, None),
    ('SELECT since_ns + 1 AS from_ns, until_ns + 1 AS to_ns, total(born_bytes) AS born_bytes, total(died_bytes) AS died_bytes'
     ' FROM v_growth_by_type GROUP BY 1, 2', 'from_ns', every, None, slot),
    ('SELECT *, arena || stack_id AS arena_and_stack FROM v_arena_estimate', 'arena_and_stack',
     lambda row, block: (row['arena'], row['stack_id']) == (block.arena, block.stack), None, None),
]


def compare_rows(numbers, face, filter, table, key, own, whole, time):
    """Compares each measure in the rows of a table with that of the row's blocks."""
    keys = collections.Counter(str(row[key]) for row in table)
    for row in table:
        if keys[str(row[key])] > 1:
            continue  # of one name
        spans = {of: Span([block for block in numbers.blocks['arenas' if key.startswith('arena') else 'heap'] if of(row, block)],
                          numbers.moments, time and time(row, numbers.moments)) for of in (own, whole) if of}
        layers = [int(value) for column, value in row.items() if ': ' in column]
        if layers:
            numbers.add(filter, f'{face}: {row[key]}', 'live_bytes', sum(layers), 'the layers')
        for column, value in row.items():
            name = WORDS.get(column, column)
            of = spans.get(whole if name.startswith('total_') else own)
            measure = MEASURES.get(name.removeprefix('total_'))
            if measure and of and value not in ('', None):
                numbers.add(filter, f'{face}: {row[key]}', name, measure(of), 'SQL')
                numbers.add(filter, f'{face}: {row[key]}', name, value, 'the table')
            elif name == 'seen_peak_bytes':
                if not max(bytes_of(of.before), bytes_of(of.after)) <= int(value) <= MEASURES['peak_bytes'](of):
                    complain(f'{numbers.session}: {filter}: {face}: {row[key]}: the peak is not {value}')
            elif not measure and ': ' not in column and column not in NO_MEASURES:
                complain(f'{numbers.session}: {face}: nobody knows what {column} is')


def compare_screen(numbers, face, filter, screen, table, key):
    """Compares the numbers below each word of a table's head with the rows of its file, as far as their digits go."""
    lines = screen.splitlines()
    heads = [line for line in lines if {KEY_WORDS.get(key, key), 'name'} & set(re.split(r'  +', re.sub('[▲▼]', ' ', line.strip())))]
    if not table or not heads:
        return
    head = re.sub('[▲▼]', ' ', heads[0].partition('│')[0])
    begin = max(head.find('function of yours'), 0) if key == 'user' else 0
    words = list(re.compile(r'\S+(?: \S+)*').finditer(head, begin))
    for place, word in enumerate(words):
        if word[0] in [earlier[0] for earlier in words[:place]]:
            break  # the next pane
        measure = HEADINGS.get(word[0])
        for line, row in zip(lines[lines.index(heads[0]) + 1:], table):
            column = next((name for name in (measure if word[0] == 'own' else f'total_{measure}', measure) if name in row), None)
            shown = re.search(r'([+−]?)([\d,.]+)([kKMG]?)', line[begin:word.end() + 1])
            if column and shown and row[column]:
                unit = {'k': 1000}.get(shown[3]) or UNITS.get(shown[3], 1)
                number = float(shown[2].replace(',', '')) * unit * (-1 if shown[1] == '−' else 1)
                said[word[0]] += 1
                if abs(number - int(row[column])) > unit / 10 ** len(shown[2].partition('.')[2]):
                    complain(f'{numbers.session}: {filter}: {face}: {column} is {row[column]}, under "{word[0]}" is {shown[0]}')
        begin = word.end() + 1
        if word[0] not in HEADINGS:
            complain(f'{face}: nobody knows what "{word[0]}" is')


def add_paths(table):
    """Adds the path of each row from the names of the rows above it."""
    path = ()
    for row in table:
        row['path'] = path = path[:int(row['level']) - 1] + (row['function'],)


def blocks_of(database, filter):
    return {'heap': read_blocks(database, filter), 'arenas': read_blocks(database, f'{filter} | where arena is not null')}


def browse_rows(numbers, session, filter):
    script = ''.join(f'{keys.format(**numbers.moments)}\ndump {place}\nkey :\ntype w FOLDER/{place}.csv\nkey Enter\ndump\n'
                     for place, (_, keys, *_) in enumerate(VIEWS_OF_ROWS))
    screens, files = browse(session, filter, script)
    for place, (face, keys, key, own, whole, time) in enumerate(VIEWS_OF_ROWS):
        table = files.get(f'{place}.csv', [])
        if key == 'path':
            add_paths(table)
        if key == 'line':
            table = [dict(row, file=last) for row in table]
        last = table[-1].get('file') if table else None
        said[face] += len(table)
        compare_rows(numbers, face, filter, table, key, own, whole, time)
        compare_screen(numbers, face, filter, screens.split(f'== {place} ')[1].split('\n== ')[0], table, key)
    words(numbers, filter, screens)


def found(pattern, *names):
    return lambda text: zip(names, re.search(pattern, text, re.M).groups())


def massif(text):
    live = [int(bytes) for bytes in re.findall(r'^mem_heap_B=(\d+)', text, re.M)]
    return [('peak_bytes', max(live)), ('live_bytes', live[-1])]


def speedscope(text):
    names = {"live at the program's peak": 'at_peak_bytes', 'live at the end': 'live_bytes', 'allocated bytes': 'bytes', 'allocations': 'allocations'}
    return [(names[profile['name']], sum(profile['weights'])) for profile in json.loads(text)['profiles']]


def dhat(text):
    names = {'tb': 'bytes', 'tbk': 'allocations', 'gb': 'at_peak_bytes', 'gbk': 'at_peak_count', 'eb': 'live_bytes', 'ebk': 'live_count'}
    return [(name, sum(stack[member] for stack in json.loads(text)['pps'])) for member, name in names.items()]


# The sums of an export over all that is selected.
EXPORTS = {
    'callgrind': found(r'^summary: (\d+) (\d+) (\d+) (\d+)', 'bytes', 'allocations', 'live_bytes', 'at_peak_bytes'),
    'pprof-text': found(r'^heap profile: +(\d+): +(\d+) \[ +(\d+): +(\d+)\]', 'live_count', 'live_bytes', 'allocations', 'bytes'),
    'collapsed': lambda text: [('bytes', sum(map(int, re.findall(r' (\d+)$', text, re.M))))],
    'massif': massif, 'speedscope': speedscope, 'dhat': dhat,
}


def exports(numbers, session, filter):
    for format, numbers_in in EXPORTS.items():
        made = subprocess.run([BIN + 'mprof-export', '-q', '-f', format, '--filter', filter, '-o', '-', session],
                              capture_output=True, text=True, check=True)
        for name, value in numbers_in(made.stdout):
            numbers.add(filter, None, name, value, format)


def compare_sessions(numbers, session, filter, base):
    """Compares mprof-report diff with the blocks of both sessions."""
    for row in report('diff', session, filter, '--base', base.session, '--by', 'type')['tables']['groups']['rows']:
        now, was = (Span([block for block in selected['heap'] if block.type == (row['type'] or '(unknown)')], numbers.moments)
                    for selected in (numbers.blocks, base.selected[filter]))
        for name in 'bytes', 'allocations', 'live_bytes':
            for column, number in ((name, MEASURES[name](now)), (f'base_{name}', MEASURES[name](was)),
                                   (f'change_{name}', MEASURES[name](now) - MEASURES[name](was))):
                numbers.add(filter, f'diff: {row["type"]}', column, number, 'SQL')
                numbers.add(filter, f'diff: {row["type"]}', column, row[column], 'the report diff')


def sql(numbers, database):
    meta = dict(database.execute('SELECT key, value FROM meta'))
    if database.execute('SELECT count(*) FROM process').fetchone()[0] > 1:
        return  # the tables are of all processes
    numbers.add(None, None, 'program_peak_bytes', meta['peak_bytes'], 'meta')
    numbers.add(None, None, 'program_peak_ns', meta['peak_ns'], 'meta')
    for key, name in (('bytes_allocated', 'bytes'), ('allocations', 'allocations'), ('live_bytes_end', 'live_bytes'),
                      ('live_count_end', 'live_count'), ('peak_bytes', 'peak_bytes'), ('peak_bytes', 'at_peak_bytes')):
        if database.execute('SELECT count(*) FROM arena').fetchone()[0] == 0 or key != 'allocations':
            numbers.add('all', None, name, meta[key], f'{key} in meta')
    for name, value in zip(('leaked_bytes', 'leaked_count'),
                           database.execute('SELECT total(live_bytes), total(live_count) FROM v_leak').fetchone()):
        numbers.add('all', None, name, value, 'v_leak')
    numbers.blocks = blocks_of(database, 'all')
    for query, *about in SQL_OF_ROWS:
        answer = database.execute(query)
        compare_rows(numbers, query[:query.find(' FROM') + 30], 'all', [dict(zip([column[0] for column in answer.description], row)) for row in answer], *about)
    for view, key in (('v_type', 'type'), ('v_size_bin', 'size'), ('v_function', 'function')):
        answer = database.execute(f'SELECT * FROM {view}')
        columns = [column[0] for column in answer.description]
        rows(numbers, 'all', key, [dict(zip(columns, row)) for row in answer], view, shared=view != 'v_function')


def moments_of(database):
    """The moments of the session or, of one with several processes, of the selected one; A and B lie anywhere."""
    start, peak, end = database.execute(
        "SELECT start_ns, peak_ns, end_ns FROM process WHERE id = (SELECT value FROM meta WHERE key = 'selected_process')"
        " UNION ALL SELECT 0, (SELECT value FROM meta WHERE key = 'peak_ns'), value FROM meta WHERE key = 'duration_ns'").fetchone()
    start, peak, end = int(start), int(peak), int(end)
    return {'start': start, 'peak': peak, 'end': end, 'A': start + (end - start) * 3 // 10, 'B': start + (end - start) * 8 // 10}


base = None
for session in sys.argv[1:]:
    database = sqlite3.connect(session)
    database.enable_load_extension(True)
    database.load_extension(EXTENSION)
    numbers = Numbers(session)
    numbers.moments = moments_of(database)
    base = base or numbers
    for filter in FILTERS:
        filter_language(numbers, database, filter)
        reports(numbers, session, filter)
        exports(numbers, session, filter)
        browser(numbers, session, filter)
        numbers.blocks = numbers.selected[filter] = blocks_of(database, filter)
        browse_rows(numbers, session, filter)
        compare_sessions(numbers, session, filter, base)
    sql(numbers, database)
    print(f'{session}: {numbers.check()} measures')
missing = [pattern for place, (pattern, *_) in enumerate(SAID) if not said[place]] + [
    word for word, measure in HEADINGS.items() if measure and not said[word]] + [face for face, *_ in VIEWS_OF_ROWS if not said[face]]
if len(sys.argv) > 2 and missing:
    complain(f'no screen has {missing}')
sys.exit(len(complaints) > 0)
