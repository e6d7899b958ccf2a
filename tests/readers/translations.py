# SPDX-License-Identifier: BSD-2-Clause
"""translations.py [COUNT [SEED [TURN]]]: the queries of mprof-export --sql on DuckDB and PostgreSQL, with
MPROF_SOAK also ClickHouse, answer as the engine does: random filters and those that ship, row by row."""
import collections
import datetime
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time

import common
from common import BUILD, SOURCE, finish, run
from postgresql import PostgreSQL

SOAK = os.environ.get('MPROF_SOAK') == '1'
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 2000 if SOAK else 200
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()) % 100000 if SOAK else 1
WORK = os.path.abspath('translations')
os.environ['XDG_CONFIG_HOME'] = f'{WORK}/config'
SHIPPED = ['leaks_by_type', 'leaks_by_user', 'grown(25%, end)', 'steady_growers', 'kept_capacity', 'histories',
           'outlived_clear', 'storms', 'same_sizes', 'pinned(50%)', 'cross_thread', 'ladders', 'reserves', 'padding']
# Random filters hardly ever have these.
MORE = ['live | where lifetime in 52us..118963872ns | top 100000 | color 3 | join line', 'live at peak | join stack | where climb >= 0', 'grown(opened, closed)', 'live at "opened" | where alloc_time > start | sum size', 'all | growth opened..closed', 'live at peak | where not stack has "main" and lifetime > end - peak and size > 16', 'all | where stack ~ "^main$|_start"', 'all | where not stack has "main" | count',
        'all | where not (type == "char" or size > 64) | sum size', 'all | where file ~ "[.]c$" | join file, line',
        'all | join stack | where allocations >= 2 | ungroup | sort size desc | top 7',
        'all | join stack | where climb >= 10 or replaced > 5 | sort bytes desc',
        'all | join type | where rises >= 1', 'all | join thread, free_thread | sort thread desc',
        'all | join function | where turnover >= 1 and peak_bytes > 100 | sort peak_bytes desc | top 9',
        'all | join type | where share >= 2', 'all | where arena is not null | join arena, kind',
        'all | join process, thread', 'survived | where arena is not null | count', 'leaked | where arena is not null', 'survived | where arena is not null | join arena',
        'survived | where arena is null or size > 1', 'leaked + (survived | where arena is not null) | join kind',
        'all | where arena is null | sort process | top 20', 'all | where confidence != candidate | count',
        'all | where id in (1..50, 70) or address in (1, 2..4096)', 'all | where size >= 18446744073709551615 | count',
        'all | where alloc_time > start - 1s and lifetime > end - peak | count', 'live at start - 1ns',
        'all | avg lifetime', 'all | join type | avg peak_bytes', 'all | where size == 77777777 | avg size', 'all | max address', 'all | min free_time',
        'all | sort crossed desc | top 30', 'all | sort collected | top 30', 'all | join collected, freed',
        'all | color 3 where size > 50 | join color | sort color desc', 'all | color 3 where size > 50 | sort color | top 9',
        'fold 1K | where path ~ "main;" | sort path', 'live at peak | fold 4K | sort peak_bytes desc | top 5', 'fold 0 | sort path',
        'fold 100 | ungroup | count', 'all | color 3 where size > 50 | fold 500 | sort path desc',
        'leaked | fold 100000000 | where path is null', 'all | where arena is not null | fold 200 | where allocations > 1',
        'all | peak', 'all | where size > 64 and type != "char" | peak', 'all | where size == 77777777 | peak',
        'all | join caller, frame 1, frame 0, function | top 20', 'all | sort frame 2 desc | top 20',
        'outlived', 'outlived | count', 'all - outlived | join type', 'all | color 3 where size > 50 | join color | ungroup | count',
        'outlived | where arena is null or size > 1 | join kind', 'outlived & leaked | sum size',
        'live at peak | sum resident', 'live | max resident', 'leaked | where resident is null | count', 'live at 30% | avg resident',
        'live at peak | where not resident < 4K and size > 40 | sort resident desc | top 9', 'live at "opened" | min resident',
        '(live at peak | where resident > 0) - (live at end - 1ms | where resident > 100) | join type',
        'live at peak | where arena is not null | sum resident', 'live at 50% | where process is not null | sort resident']


# Blocks begin and end around a clear: some outlive it, others nearly do.
CLEARS = '''#include <stdlib.h>
#include <unistd.h>
static void *kept[300];
__attribute__((noinline)) void store(int i) { kept[i] = malloc(100 + i); }
__attribute__((noinline)) void clear_some(int i, int end) { for (; i < end; i++) free(kept[i]); }
__attribute__((noinline)) void drop(int i) { free(kept[i]); }
int main(void)
{
    for (int i = 0; i < 140; i++) { store(i); if (i > 99 && i < 136) usleep(1); }
    clear_some(0, 20);
    for (int i = 140; i < 180; i++) { usleep(1); store(i); drop(i - 100); }
    for (int i = 80; i < 130; i++) { usleep(i < 110 ? 1 : 1000); drop(i); }
    clear_some(130, 140);
    return 0;
}
'''


def record(name, *command, options=()):
    run(f'{BUILD}/bin/mprof-run', '-q', '-o', f'{WORK}/{name}.bin', *options, '--', *command, status=None)
    run(f'{BUILD}/bin/mprof-ingest', '-q', '-o', f'{WORK}/{name}.db', f'{WORK}/{name}.bin')


def make_sessions():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(f'{WORK}/config')
    tests = f'{BUILD}/tests'
    run(f'{tests}/make_session', f'{WORK}/synthetic.db', '1000', '120', '60', '4', '3')
    run(f'{tests}/make_session', f'{WORK}/deep.db', '400', '300', '20', '2', '9')
    record('frees', '/usr/bin/python3', '-S', '-c', 'print([str(i) * 40 for i in range(300)])',
           options=['--free-stacks'])
    record('sample', '/usr/bin/python3', '-S', '-c', 'print(len([str({i: [i] * 20}) for i in range(4000)]))',
           options=['--sample=256'])
    record('processes', 'sh', '-c', 'ls -l / | sort | tail -1; perl -e "print 1 x 10000"')
    record('arenas', f'{tests}/arena')
    record('threads', f'{tests}/graphs/handed_over', options=['--free-stacks'])
    record('marks', f'{tests}/graphs/growing_cache', 'faulty')
    run('cc', '-g', '-x', 'c', '-', '-o', f'{WORK}/clears', input=CLEARS.encode())
    record('cleared', f'{WORK}/clears', options=['--free-stacks'])
    record('padded', f'{tests}/graphs/padded_cells', 'faulty')
    shutil.copy(f'{WORK}/arenas.db', f'{WORK}/collected.db')
    with sqlite3.connect(f'{WORK}/collected.db') as database:
        database.execute("UPDATE arena SET collected = 1, kept_ns = (SELECT avg(alloc_ns) FROM allocation WHERE arena_id = arena.id)"
                         " WHERE id IN (SELECT arena_id FROM allocation GROUP BY 1 HAVING count(*) > 1)")
    database.close()
    return ['synthetic', 'deep', 'frees', 'sample', 'processes', 'arenas', 'threads', 'marks', 'cleared', 'padded', 'collected']


def random_filters(names):
    """Filters about values of the sessions, some from each, as (text, the session)."""
    each = [json.loads(run(sys.executable, f'{SOURCE}/tests/session/reference.py', '-', f'{WORK}/{name}.db',
                           str(-(-COUNT // len(names))), str(SEED + i)).stdout) for i, name in enumerate(names)]
    return [(text, name) for row in zip(*each) for text, name in zip(row, names)][:COUNT]


def places(sessions, turn):
    """Returns for each filter the sessions on which it is asked: in the soak all. Otherwise a random one is asked where
    its values are from and on one of the others, in turn, and those above on a third of the sessions, in turn."""
    found = {}
    for i, (text, name) in enumerate(random_filters(sessions)):
        found[text] = sessions if SOAK else {name, sessions[(i + 1 + turn % (len(sessions) - 1)) % len(sessions)]}
    for i, text in enumerate(SHIPPED + MORE):
        found[text] = sessions if SOAK else {name for k, name in enumerate(sessions) if (i + k + turn) % 3 == 0}
    for text in ALL:
        found[text] = sessions
    return {text: [name for name in sessions if name in of] for text, of in found.items()}


def at_places(query, sessions):
    """Chooses sessions as the comment in the query says."""
    words = ', '.join("'" + name + "'" for name in sessions)
    chosen, count = re.subn(r'(FROM meta) (GROUP BY session)', rf'\1 WHERE session IN ({words}) \2', query)
    common.check('where a query chooses sessions', count, 1)
    return chosen


def translate(database, texts):
    """Returns (filter, query, None), or (filter, None, the reason why there is none), for each filter."""
    out = run(f'{BUILD}/tests/print_query', database, *texts).stdout.decode(errors='surrogateescape')
    parts = re.findall(r'^# (query|refused (\d+))\n(.*?)(?=^# (?:query|refused)|\Z)', out, re.S | re.M)
    answers = []
    for text, (kind, column, body) in zip(texts, parts, strict=True):
        # A refusal names a column and a reason.
        if kind != 'query' and (int(column) == 0 or len(body) < 20):
            raise SystemExit(f'{text}: refused at column {column}: {body}')
        answers.append((text, body, None) if kind == 'query' else (text, None, body.strip()))
    return answers


def program(text):
    """Checks that mprof-export writes such queries, and refuses as it should."""
    wanted = translate('postgresql', [text])[0][1]
    export = f'{BUILD}/bin/mprof-export'
    run(export, '--sql', 'postgresql', '--filter', text, '-o', f'{WORK}/query.sql')
    with open(f'{WORK}/query.sql', encoding='utf-8') as file:
        common.check('mprof-export --sql -o', file.read(), wanted)
    common.check('--sql with a session', run(export, '--sql', 'postgresql', '--filter', text, f'{WORK}/frees.db').stdout.decode(),
                 wanted)
    for words, status, message in ((['--sql', 'oracle'], 2, 'needs one of'), (['--sql', 'duckdb', '-f', 'csv'], 2, 'takes'),
                                   (['--sql', 'duckdb', '--filter', 'all | write "rows.csv"'], 2, 'column 7: write has no translation'),
                                   (['--sql', 'duckdb', f'{WORK}/none.db'], 1, 'none.db'),
                                   (['--sql', 'duckdb', '--filter', 'all | top $n'], 2, 'column 11: this value cannot be a parameter'),
                                   (['-f', 'csv', '--filter', 'all | where size > $n', f'{WORK}/frees.db'], 2, 'column 20: this character'),
                                   (['--by', 'host', '-f', 'csv'], 2, '--by works with --sql'),
                                   (['--sql', 'duckdb', '--by', 'a,b,a'], 2, 'at most 8 keys'),
                                   (['--sql', 'duckdb', '--by', 'host', '--filter', 'leaked'], 2, 'must end in groups or a measure'),
                                   (['--sql', 'duckdb', '--by', 'host', '--filter', 'all | join stack'], 2, 'column 12: stack is a number of one'),
                                   (['--sql', 'duckdb', '--by', 'host', '--filter', 'all | peak'], 2, 'a peak is of one session'),
                                   (['--sql', 'duckdb', '--by', 'host', '--filter', 'all | join type | where rises > 1'], 2, 'rises is of one'),
                                   (['--sql', 'duckdb', '--by', 'host', '--filter', 'all | join type | where avg_lifetime > end - peak'], 2,
                                    'a time of the run')):
        common.check(f'{words}', message in run(export, *words, status=status).stderr.decode(), True)


def whole(text):
    """A filter with the texts of the saved ones that it uses."""
    used = re.findall(r'\bstored_\w+', text)
    for stored in used:
        with open(f'{WORK}/config/mprof/graphs/{stored}.graph', encoding='utf-8', errors='surrogateescape') as file:
            inner = file.read()
        text += inner
        used += [name for name in re.findall(r'\bstored_\w+', inner) if name not in used]
    return text


def engine(name, texts):
    """Returns for each filter the lines of print_graph, or None: it does not run on this session."""
    answers = {}
    left = list(texts)
    while left:
        done = subprocess.run([f'{BUILD}/tests/print_graph', f'{WORK}/{name}.db', *left[:100]], capture_output=True,
                              text=True, errors='surrogateescape', check=False)
        parts = re.split(r'^# .*\n', done.stdout, flags=re.M)[1:]
        for text, part in zip(left, parts):
            answers[text] = part.split('\n')[:-1]
        if done.returncode != 0:
            answers[left[len(parts) - (len(parts) > 0 and parts[-1] == 'unfinished')]] = None
            parts.append('')
        left = left[len(parts):]
    return answers


def as_engine(names, rows, lines):
    """The rows of a session in the form of print_graph, as far as the query shows them; also its lines."""
    head = lines[0].split('\t') if lines else []
    if 'color' in head and 'allocations' in head:  # groups
        columns = []
        for i, name in enumerate(head):
            here = {'color': 'color_key'}.get(name, name.replace(' ', '_')) if i < head.index('allocations') else name
            if here in names:
                columns.append((i, names.index(here)))
        # ClickHouse has 0 and 1 for false and true.
        truths = {k for i, k in columns if head[i] in ('freed', 'collected')}
        found = ['\t'.join('-' if row[k] is None else {'0': 'false', '1': 'true'}.get(row[k], row[k]) if k in truths
                           else row[k] for _, k in columns) for row in rows]
        wanted = []
        for line in lines[1:]:
            cells = line.split('\t')
            wanted.append('\t'.join('-' if head[i] == 'color' and i == len(head) - 1 and cells[i] == '-1' else cells[i]
                                    for i, _ in columns))
        least = head.index('allocations') + 16 - 1
        return found, wanted, len(columns) >= least
    if 'value' in names:
        cells = lines[0].split('\t')
        wanted = [cells[1]] + [part.split('=')[1] for part in cells[3:]]
        found = [['-' if v is None else v for v in row[1:]] for row in rows]
        return found, [wanted], True
    return [row[names.index('id')] for row in rows], lines, 'size' in names


class Comparison:
    def __init__(self, sessions, asked):
        self.sessions, self.asked = sessions, asked
        self.wanted = {name: engine(name, [text for text in asked if name in asked[text]]) for name in sessions}
        self.compared = self.rows = 0

    def compare(self, database, text, answer):
        if isinstance(answer, dict):
            common.failures.append(f'{database}: {text}: {answer["error"][:400]}')
            return
        names, rows = answer[0], answer[1:]
        if 'session' not in names:
            raise SystemExit(f'{database}: {text}: columns {names}')
        by_session = collections.defaultdict(list)
        for row in rows:
            by_session[row[names.index('session')]].append(row)
        common.check(f'{database}: {text}: other sessions', by_session.keys() - set(self.asked[text]), set())
        for name in self.asked[text]:
            lines = self.wanted[name][text]
            # Synthetic sessions have no answers of ingest to these: the engine finds them by itself.
            if name in ('synthetic', 'deep') and re.search('user|owner', whole(text)):
                continue
            if lines is None:
                # Such as a mark that this session does not have.
                if by_session[name]:
                    common.failures.append(f'{database} {name}: {text}: rows, and the engine has none')
                continue
            found, wanted, complete = as_engine(names, by_session[name], lines)
            self.compared += 1
            self.rows += len(wanted)
            if found != wanted or not complete:
                place = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
                common.failures.append(f'{database} {name}: {text}\n  row {place + 1}: {found[place:place + 1]}, the engine '
                                       f'{wanted[place:place + 1]} ({len(found)} and {len(wanted)} rows)')


# Filters with parameters of the query, their values, and the same filter with these.
PARAMETERS = [('grown($from, $to)', {'from': 2000000, 'to': 40000000}, 'grown(2ms, 40ms)'),
              ('all | where size in $least..$most and not stack has $f | join function', {'least': 20, 'most': 700, 'f': 'main'},
               'all | where size in 20..700 and not stack has "main" | join function'),
              ('big(N) = all | where size >= N; big($n) | where type != $t', {'n': 32, 't': 'it\'s "char"'},
               'big(N) = all | where size >= N; big(32) | where type != "it\'s \\"char\\""'),
              ('live at end - $x - 1ms | sum size', {'x': 1000000}, 'live at end - 2ms | sum size')]
# With --by: a filter, the one whose rows of each session tell its answer, and what is done with their sums.
SUMS = ('allocations', 'bytes', 'objects', 'live_bytes', 'live_count')
BY_GROUPS = [('all | join type', 'all | join type', sorted), ('leaked | join function, size', 'leaked | join function, size', sorted),
             ('survived | join size | where bytes > 500 | sort bytes desc | top 3', 'survived | join size',
              lambda rows: sorted([row for row in rows if row[2] > 500], key=lambda row: (-row[2], int(row[0])))[:3])]
BY_MEASURES = [('all | count', sum), ('live at peak | sum size', sum), ('all | growth 25%..75%', sum), ('all | max size', max)]
BY_TEXTS = [text for text, *_ in BY_GROUPS + BY_MEASURES]
ALL = list(dict.fromkeys([of for _, of, _ in BY_GROUPS] + BY_TEXTS + [plain for *_, plain in PARAMETERS]))
SERVICES = ['shop', 'it\'s, "all"', None]


def by_sums(lines_of):
    """The groups of several sessions with their sums and in how many they are: [KEY…, SUM…, sessions]."""
    groups = {}
    for lines in lines_of:
        head = lines[0].split('\t')
        first = head.index('allocations')
        for cells in (line.split('\t') for line in lines[1:]):
            row = groups.setdefault(tuple(cells[:first]), [0] * (len(SUMS) + 1))
            for i, value in enumerate([cells[head.index(name)] for name in SUMS] + [1]):
                row[i] += int(value)
    return [[*keys, *sums] for keys, sums in groups.items()]


def compare_by(comparison, database, answers):
    units = collections.defaultdict(list)
    for i, name in enumerate(comparison.sessions):
        with sqlite3.connect(f'{WORK}/{name}.db') as connection:
            program = connection.execute("SELECT value FROM meta WHERE key = 'program'").fetchone()[0]
        connection.close()
        units[SERVICES[i % len(SERVICES)], program].append(name)
    for text, answer in zip(BY_TEXTS, answers, strict=True):
        if isinstance(answer, dict):
            common.failures.append(f'{database} --by: {text}: {answer["error"][:400]}')
            continue
        names, rows = answer[0], answer[1:]
        common.check(f'{database} --by: {text}', names[:2], ['service', 'program'])
        for unit, sessions in units.items():
            own = [row for row in rows if tuple(row[:2]) == unit]
            if text in dict(BY_MEASURES):
                found = [[int(row[names.index(name)]) for name in ('value', 'sessions')] for row in own]
                values = [int(comparison.wanted[name][text][0].split('\t')[1]) for name in sessions]
                wanted = [[dict(BY_MEASURES)[text](values), len(sessions)]]
            else:
                of, then = next((of, then) for by, of, then in BY_GROUPS if by == text)
                found = [['-' if value is None else value for value in row[2:names.index('allocations')]] +
                         [int(row[names.index(name)]) for name in (*SUMS, 'sessions')] for row in own]
                found = found if 'top' in text else sorted(found)
                wanted = then(by_sums([comparison.wanted[name][of] for name in sessions]))
            comparison.compared += 1
            common.check(f'{database} --by {unit}: {text}', found, wanted)


def csv_rows(text):
    """The rows of psql --csv with a word for null."""
    import csv
    import io
    return [[None if v == '\u2400' else {'t': 'true', 'f': 'false'}.get(v, v) for v in row]
            for row in csv.reader(io.StringIO(text))]


def postgresql(folders, queries):
    with PostgreSQL() as server:
        # As docs/exports.md advises: the steps have more rows than PostgreSQL expects.
        quiet = dict(os.environ, PGCLIENTENCODING='UTF8', PGOPTIONS='-c client_min_messages=warning -c enable_nestloop=off')
        for folder in folders:
            server.psql('-f', 'load.postgresql.sql', cwd=folder, env=quiet)
        for query in queries:
            query, values = query if isinstance(query, list) else (query, {})
            done = subprocess.run([f'{server.programs}/psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', server.folder, '-U', 'mprof',
                                   '-d', 'postgres', '--csv', '-P', 'null=\u2400',
                                   *(word for name, value in values.items() for word in ('-v', f'{name}={value}'))],
                                  input=query.encode(errors='surrogateescape'), capture_output=True, check=False, env=quiet)
            yield csv_rows(done.stdout.decode()) if done.returncode == 0 else {'error': done.stderr.decode()}


def by_node(database, folders, queries):
    with open(f'{WORK}/queries.json', 'w', encoding='utf-8') as out:
        json.dump(queries, out)
    done = run('node', f'{SOURCE}/tests/readers/queries.js', database, json.dumps(folders), f'{WORK}/queries.json',
               env=common.node_environment())
    return (json.loads(line) for line in done.stdout.decode().splitlines())


def main():
    sessions = make_sessions()
    turn = int(sys.argv[3]) if len(sys.argv) > 3 else datetime.date.today().toordinal()
    print(f'{COUNT} random filters of seed {SEED}; turn {turn}')
    asked = places(sessions, turn)
    folders = [f'{WORK}/{name}' for name in sessions]
    for i, name in enumerate(sessions):
        service = SERVICES[i % len(SERVICES)]
        run(f'{BUILD}/bin/mprof-export', '-q', '-f', 'csv', '--tables', f'{WORK}/{name}', f'{WORK}/{name}.db',
            *(['--label', f'service={service}'] if service else []))
    program('live at peak | where size > 1K and not function ~ "a|b" | join type | top 3')
    comparison = Comparison(sessions, asked)
    databases = os.environ.get('MPROF_TEST_DATABASES', 'duckdb postgresql' + (' clickhouse' if SOAK else '')).split()
    for database in databases:
        translated = translate(database, [*asked])
        queries = {text: at_places(query, asked[text]) for text, query, _ in translated if query}
        before = comparison.compared
        refused = collections.Counter(re.sub(r'.*column \d+: |"[^"]*"', '', reason) for _, query, reason in translated if not query)
        with_values = [[query, values] for (_, query, _), (_, values, _) in
                       zip(translate(database, [text for text, *_ in PARAMETERS]), PARAMETERS)]
        by = [run(f'{BUILD}/bin/mprof-export', '--sql', database, '--by', 'service,program', '--filter', text).stdout.decode()
              for text in BY_TEXTS]
        every = [*queries.values(), *with_values, *by]
        answers = list(postgresql(folders, every) if database == 'postgresql' else by_node(database, folders, every))
        for text, answer in zip(queries, answers):
            comparison.compare(database, text, answer)
        for (text, _, plain), answer in zip(PARAMETERS, answers[len(queries):]):
            comparison.compare(database, plain, answer)
        compare_by(comparison, database, answers[len(queries) + len(PARAMETERS):])
        print(f'{database}: {len(queries)} filters on {len(sessions)} sessions, {comparison.compared - before} answers compared')
        for reason, count in refused.most_common():
            print(f'  {count} refused: {reason}')
        if sum(refused.values()) > len(asked) // 2:
            common.failures.append(f'{database} refuses more than half')
    print(f'{comparison.rows} rows')
    finish(comparison.compared)


main()
