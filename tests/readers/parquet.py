# SPDX-License-Identifier: BSD-2-Clause
"""DuckDB, with MPROF_SOAK also ClickHouse, reads the Parquet files of --tables: types and rows are those of the tables
that NDJSON loads, and a filter in SQL answers alike."""
import csv
import io
import json
import os
import shutil

import common
from common import BUILD, SOURCE, check, finish, run

EXPORT = f'{BUILD}/bin/mprof-export'
LAKE = 'out/lake'
NAMES = ['shop', 'hostile', 'sampled', 'forks', 'groups']
# One has bytes that the name of a folder cannot have.
LABELS = {'shop': ['--label', "service=it's 100% / shop"], 'hostile': ['--label', 'service=shop']}


def database(name, program, folders):
    answer = json.loads(run('node', f'{SOURCE}/tests/readers/lake.js', name, LAKE, json.dumps(folders), f'{LAKE}/query.{name}.sql',
                            env=common.node_environment()).stdout)
    query = answer.pop('query')
    check(f'{program}: the query', (query['lake'] == query['loaded'], len(query['lake']) > 10), (True, True))
    for table, about in answer.items():
        check(f'{program} {table}: rows that only one side has', (about['less'], about['more']), (0, 0))
        check(f'{program} {table}: columns', ([c for c in about['columns'] if c not in about['lake']],
                                              {c.split(',')[0] for c in about['lake'] if c not in about['columns']}),
              ([], {'service', 'day'} if name == 'duckdb' else set()))
    check(f'{program}: tables', {'allocation', 'meta', 'stack', 'sample_weight'} <= answer.keys(), True)
    check(f'{program}: all rows', answer['allocation']['rows'] > 140000, True)
    return 2 * len(answer) + 2


def rows_of_filters():
    """The rows of a filter are those of CSV, behind the session, its host, its start and its labels."""
    asked, queries = [], []
    for name in ('shop', 'sampled', 'forks'):
        for text in ('all | join type, function, freed', 'all | join thread, stack, size | sort bytes desc | top 40',
                     'live at peak | sort size desc | top 100', 'all | peak', 'all | where size == 77777777 | avg size'):
            path = f'{LAKE}/rows{len(asked)}.parquet'
            run(EXPORT, '-q', '-f', 'parquet', '--filter', text, '--label', 'service=shop', '-o', path, f'sessions/{name}.db')
            wanted = run(EXPORT, '-q', '-f', 'csv', '--filter', text, f'sessions/{name}.db').stdout.decode()
            asked.append((name, text, list(csv.reader(io.StringIO(wanted)))))
            queries.append(f"SELECT * FROM read_parquet('{os.path.abspath(path)}')")
    with open(f'{LAKE}/queries.json', 'w', encoding='utf-8') as out:
        json.dump(queries, out)
    answers = run('node', f'{SOURCE}/tests/readers/queries.js', 'duckdb', '[]', f'{LAKE}/queries.json', env=common.node_environment())
    for (name, text, wanted), line in zip(asked, answers.stdout.decode().splitlines(), strict=True):
        head, *rows = json.loads(line)
        check(f'{name}: {text}: columns', head, ['session', 'host', 'start_time', 'label.service', *wanted[0]])
        check(f'{name}: {text}: whose', {(row[0], row[3]) for row in rows}, {(name, 'shop')} if rows else set())
        plain = [['' if value is None else value for value in row[4:]] for row in rows]
        if head[-1] == 'standard_error':
            for row in plain + wanted[1:]:
                row[-1] = float(row[-1] or 0)
        check(f'{name}: {text}', plain, wanted[1:])
    return 3 * len(asked)


for folder in (LAKE, 'out/lake.loaded'):
    shutil.rmtree(folder, ignore_errors=True)
os.makedirs('out/lake.loaded', exist_ok=True)
# More rows than a row group has.
run(f'{BUILD}/tests/make_session', 'out/lake.loaded/groups.db', '140000', '200', '40', '3', '5')
loaded = []
for name in NAMES:
    session = f'sessions/{name}.db' if name != 'groups' else 'out/lake.loaded/groups.db'
    folder = f'out/lake.loaded/{name}'
    run(EXPORT, '-q', '-f', 'ndjson', '--tables', folder, *LABELS.get(name, []), session)
    # A session that is exported again replaces its files.
    for _ in range(2 if name == 'shop' else 1):
        run(EXPORT, '-q', '-f', 'parquet', '--tables', LAKE, *LABELS.get(name, []), session)
    loaded.append(os.path.abspath(folder))
for service, names in (('it%27s%20100%25%20%2F%20shop', ['shop']), ('shop', ['hostile']),
                       ('__HIVE_DEFAULT_PARTITION__', ['forks', 'groups', 'sampled'])):
    found = [file for day in os.scandir(f'{LAKE}/allocation/service={service}') for file in os.listdir(day)]
    check(service, sorted(found), [f'{name}.parquet' for name in names])
databases = {'duckdb': 'DuckDB'}
if os.environ.get('MPROF_SOAK') == '1':
    databases['clickhouse'] = 'ClickHouse'
compared = 0
for name, program in databases.items():
    run(EXPORT, '--sql', name, '--filter', 'live at peak | join type, function | sort bytes desc', '-o', f'{LAKE}/query.{name}.sql')
    compared += database(name, program, loaded)
finish(compared + rows_of_filters())
