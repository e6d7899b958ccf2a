# SPDX-License-Identifier: BSD-2-Clause
"""PostgreSQL and DuckDB, with MPROF_SOAK also ClickHouse, load the tables of csv and ndjson and answer as the
session does."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess

import common
from common import check, finish, run
from postgresql import PostgreSQL

# The tables have a column `session` there; here views add it.
QUERIES = {
    'sums': "SELECT count(*), sum(size), count(free_ns), sum(size * (1 - CASE WHEN free_ns IS NULL THEN 0 "
            "ELSE 1 END)) FROM allocation WHERE arena_id = 0 AND session = '{}'",
    'functions': "SELECT f.id, f.name, f.linkage_name, count(*), sum(a.size) FROM allocation a JOIN stack s ON "
                 "s.session = a.session AND s.id = a.stack_id JOIN function f ON f.session = s.session AND "
                 "f.id = s.function_id WHERE a.session = '{}' GROUP BY f.id, f.name, f.linkage_name",
    'leaks': "SELECT stack_id, count(*), sum(size) FROM allocation WHERE free_ns IS NULL AND session = '{}' "
             "GROUP BY stack_id",
    'sizes': "SELECT a.size, count(*), min(b.allocations) FROM allocation a LEFT JOIN size_bin b ON b.session = "
             "a.session AND b.size = a.size WHERE arena_id = 0 AND a.session = '{}' GROUP BY a.size",
    'at the peak': "SELECT count(*), sum(size) FROM allocation a JOIN meta m ON m.session = a.session AND "
                   "m.key = 'peak_ns' WHERE alloc_ns <= CAST(value AS BIGINT) AND (free_ns IS NULL OR "
                   "free_ns > CAST(value AS BIGINT)) AND a.session = '{}'",
    'types': "SELECT t.name, t.confidence, h.name, count(*), max(a.size) FROM allocation a LEFT JOIN type t ON "
             "t.session = a.session AND t.id = a.type_id JOIN thread h ON h.session = a.session AND "
             "h.id = a.thread_id WHERE a.session = '{}' GROUP BY t.name, t.confidence, h.name",
    'frames': "SELECT fr.id, fr.inlined, fr.line, s.path, m.path, m.build_id FROM frame fr LEFT JOIN source_file s "
              "ON s.session = fr.session AND s.id = fr.source_file_id LEFT JOIN module m ON m.session = fr.session "
              "AND m.id = fr.module_id WHERE fr.session = '{}'",
    'nothing and the empty text': "SELECT count(*), count(linkage_name), sum(CASE WHEN name = '' THEN 1 ELSE 0 END) "
                                  "FROM function WHERE session = '{}'",
}
QUIET = dict(os.environ, PGCLIENTENCODING='UTF8', PGOPTIONS='-c client_min_messages=warning')
NAMES = ['shop', 'hostile', 'sampled', 'forks']


def utf8(value):
    """Text with U+FFFD for each byte that is not UTF-8."""
    if not isinstance(value, bytes):
        return value
    out = ''
    while value:
        try:
            return out + value.decode('utf-8')
        except UnicodeDecodeError as fault:
            out += value[:fault.start].decode('utf-8') + '\ufffd'
            value = value[fault.start + 1:]
    return out


def ordered(rows):
    """Rows of numbers and texts; sums of large integers may come as texts."""
    return sorted([[int(v) if isinstance(v, str) and v.lstrip('-').isdigit() else v for v in row] for row in rows],
                  key=lambda row: [str(v) for v in row])


def shown(value, form):
    """Text as a format holds it: csv replaces what could steer a terminal, ndjson escapes it."""
    return common.clean(value) if form == 'csv' and isinstance(value, bytes) else utf8(value)


def answers(name, form):
    database = sqlite3.connect(f'file:sessions/{name}.db?mode=ro', uri=True)
    database.text_factory = bytes
    for table, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                                   "'sqlite%'").fetchall():
        table = table.decode()
        database.execute(f"CREATE TEMP VIEW \"{table}\" AS SELECT '{name}' AS session, * FROM main.\"{table}\"")
    return {query: ordered([[shown(v, form) for v in row] for row in database.execute(text.format(name))])
            for query, text in QUERIES.items()}


def compare(program, results, wanted):
    for query in QUERIES:
        check(f'{program} {query}', ordered(results[query]), wanted[query])
    return len(QUERIES)


def tables(name, form, session=None, folder=None, labels=()):
    """Exports all tables of a session and returns the folder."""
    folder = folder or f'out/tables.{form}/{name}'
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f'out/tables.{form}', exist_ok=True)
    run(f'{common.BUILD}/bin/mprof-export', '--format', form, '--tables', folder, *labels, session or f'sessions/{name}.db')
    for script, end in (('postgresql', True), ('duckdb', True), ('clickhouse', False)):
        text = open(f'{folder}/load.{script}.sql', encoding='utf-8').read()
        # ClickHouse has no such statement, and its script says so.
        check(f'{script} ends with ANALYZE', ('ANALYZE' in text, text.strip().endswith('ANALYZE;')),
              (True, end))
    return folder


def bad_folders(name, form):
    """Folders that must not be loaded: one with a damaged file, and another session of the same name."""
    damaged, other = f'out/tables.{form}/damaged', f'out/other.{form}'
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(f'out/tables.{form}/{name}', damaged)
    with open(f'{damaged}/allocation.{form}', 'r+b') as file:
        file.truncate(os.path.getsize(file.name) * 2 // 3)
        file.seek(0, os.SEEK_END)
        file.write(b'"' if form == 'csv' else b'{"')
    os.makedirs(other, exist_ok=True)
    shutil.copy('sessions/sampled.db', f'{other}/{name}.db')
    return [damaged, tables(name, form, f'{other}/{name}.db', f'{other}/tables')]


def refused(server, folder, word):
    done = server.start_psql('-f', 'load.postgresql.sql', cwd=folder, stderr=subprocess.PIPE)
    said = done.communicate()[1].decode()
    check(f'{folder} is refused', (done.returncode, word in said), (3, True))


wanted = {form: {name: answers(name, form) for name in NAMES} for form in ('csv', 'ndjson')}
checked = 0
with PostgreSQL() as server:
    for form in ('csv', 'ndjson'):
        for name in NAMES:
            # Sessions share the tables.
            server.psql('-f', 'load.postgresql.sql', cwd=tables(name, form), env=QUIET)
        # A session that is loaded again, by several at once and by one that is killed, is there once. Nothing that is
        # not whole replaces it.
        again = [server.start_psql('-f', 'load.postgresql.sql', cwd=f'out/tables.{form}/{NAMES[0]}') for _ in range(3)]
        again[0].kill()
        check('loaders at once', [loader.wait() for loader in again], [-signal.SIGKILL, 0, 0])
        for folder, word in zip(bad_folders(NAMES[0], form), ('', 'another session of this name')):
            refused(server, folder, word)
        for name in NAMES:
            results = {query: server.ask(text.format(name), len((wanted[form][name][query] or [[0]])[0]))
                       for query, text in QUERIES.items()}
            checked += compare(f'PostgreSQL {form} {name}', results, wanted[form][name])
        server.psql('-c', 'DROP SCHEMA public CASCADE; CREATE SCHEMA public')

EMBEDDED = {'DuckDB': 'duckdb.js'}
if os.environ.get('MPROF_SOAK') == '1':
    EMBEDDED['ClickHouse'] = 'clickhouse.js'
for program, script in EMBEDDED.items():
    for form in ('csv', 'ndjson'):
        folders = [os.path.abspath(f'out/tables.{form}/{name}') for name in NAMES]
        # One is loaded twice, and not replaced by what is not whole. ClickHouse has no transactions: it is loaded again.
        bad = ['!' + os.path.abspath(folder) for folder in bad_folders(NAMES[0], form)]
        folders += [*bad, folders[0]]
        asked = [[name, query, text.format(name)] for name in NAMES for query, text in QUERIES.items()]
        answer = run('node', f'{common.SOURCE}/tests/readers/{script}', json.dumps(folders), json.dumps(asked),
                     env=common.node_environment())
        results = json.loads(answer.stdout)
        for name in NAMES:
            checked += compare(f'{program} {form} {name}', {q: results[f'{name} {q}'] for q in QUERIES}, wanted[form][name])
finish(checked)
