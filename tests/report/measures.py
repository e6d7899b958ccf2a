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

BIN = os.environ['MPROF_BUILD'] + '/bin/'
EXTENSION = os.environ['MPROF_BUILD'] + '/lib/mprof_sqlite.so'
FILTERS = ['all', 'leaked', 'all | where size > 1000', 'live at 90%', 'all | where lifetime < 1ms', 'all | where arena is not null']
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
WORDS = {'self_bytes': 'bytes', 'self_count': 'allocations', 'short_count': 'short_lived', 'total_count': 'total_allocations'}
UNITS = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}
failures = 0


def complain(text):
    global failures
    failures += 1
    print(text)


class Numbers:
    def __init__(self, session):
        self.session, self.found = session, collections.defaultdict(dict)

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


def report(name, session, filter):
    made = subprocess.run([BIN + 'mprof-report', name, '--format', 'json', '--top', 'all', '--filter', filter, session],
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
    script = 'key 1\ndump\n' + ''.join(f'key :\ntype {view}\nkey Enter\ndump\nkey :\ntype w FOLDER/{view}.csv\nkey Enter\ndump\n'
                                        for view in VIEWS)
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
            exact = next(iter(numbers.found[filter, None, bytes]))
            step = UNITS[unit] / 10 ** len(shown.partition('.')[2]) if shown else 0
            if abs((float(shown) * UNITS[unit] if shown else 0) - exact) > step:
                complain(f'{numbers.session}: {filter}: {bytes} is {exact}, and the screen says: {line.strip()}')
            if count and int((blocks or '0').replace(',', '')) != next(iter(numbers.found[filter, None, count])):
                complain(f'{numbers.session}: {filter}: {count}: the screen says: {line.strip()}')


def exports(numbers, session, filter):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out')
        subprocess.run([BIN + 'mprof-export', '-f', 'callgrind', '--filter', filter, '-o', out, session], check=True)
        text = open(out).read()
        sums = re.search(r'^summary: (.*)$', text, re.M).group(1).split()
        for name, value in zip(('bytes', 'allocations', 'live_bytes', 'at_peak_bytes'), sums):
            numbers.add(filter, None, name, value, 'callgrind')
        os.unlink(out)
        subprocess.run([BIN + 'mprof-export', '-f', 'speedscope', '--filter', filter, '-o', out, session], check=True)
        for profile in json.load(open(out))['profiles']:
            name = {"live at the program's peak": 'at_peak_bytes', 'live at the end': 'live_bytes'}.get(profile['name'])
            if name:
                numbers.add(filter, None, name, sum(profile['weights']), 'speedscope')
                said[name] += 1


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
    for view, key in (('v_type', 'type'), ('v_size_bin', 'size'), ('v_function', 'function')):
        answer = database.execute(f'SELECT * FROM {view}')
        columns = [column[0] for column in answer.description]
        rows(numbers, 'all', key, [dict(zip(columns, row)) for row in answer], view, shared=view != 'v_function')


for session in sys.argv[1:]:
    database = sqlite3.connect(session)
    database.enable_load_extension(True)
    database.load_extension(EXTENSION)
    numbers = Numbers(session)
    for filter in FILTERS:
        filter_language(numbers, database, filter)
        reports(numbers, session, filter)
        exports(numbers, session, filter)
        browser(numbers, session, filter)
    sql(numbers, database)
    print(f'{session}: {numbers.check()} measures')
if len(sys.argv) > 2 and not all(said[place] for place in range(len(SAID))):
    complain(f'no screen has {[pattern for place, (pattern, *_) in enumerate(SAID) if not said[place]]}')
sys.exit(failures > 0)
