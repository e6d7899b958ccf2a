# SPDX-License-Identifier: BSD-2-Clause
"""The ten questions of docs/fleet.md and the queries of its dashboard, over 48 sessions of four programs in two releases
on three hosts, in PostgreSQL and DuckDB: the answers are what is built into the programs. With MPROF_SOAK over the 216
of the page, whose answers are compared, too, and the views and the dashboard also in ClickHouse. MPROF_REFRESH=1 writes
the answers into the page; only with MPROF_SOAK=1."""
import concurrent.futures
import datetime
import itertools
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess

import common
from common import BUILD, SOURCE, check, finish, run
from postgresql import PostgreSQL

WORK = os.path.abspath('fleet')
SOAK = os.environ.get('MPROF_SOAK') == '1'
SERVICES, RELEASES, HOSTS, PERIODS = ('shop', 'mail', 'search', 'cache'), ('1.4', '1.5'), ('web1', 'web2', 'web3'), 9 if SOAK else 2
BOTH = PERIODS * len(RELEASES)
# The shop keeps more in its second release, mail leaks on web2, search touches nothing of its index on web3, cache keeps
# every 16th entry on web1.
PROGRAM = '''#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct session { char user[104]; };
struct letter { struct letter *next; char text[240]; };
struct entry { char value[1000]; };
static void *kept[4096];
static int count, host;
static void keep(void *block) { kept[count++] = block; }
static __attribute__((noinline)) void open_session(void) { struct session *s = malloc(sizeof(struct session)); keep(s); }
static __attribute__((noinline)) void receive(void) { struct letter *l = malloc(sizeof(struct letter)); keep(l); }
static __attribute__((noinline)) char *read_index(size_t size) { char *p = malloc(size); keep(p); return p; }
static __attribute__((noinline)) void store(void) { struct entry *e = malloc(sizeof(struct entry)); memset(e, 1, sizeof(*e)); keep(e); }
static __attribute__((noinline)) void work(void) { for (int i = 0; i < 100; i++) free(malloc(64 + i)); }
static void shop(void) { for (int i = 0; i < (RELEASE > 14 ? 300 : 100); i++) open_session(); }
static void mail(void) { for (int i = 0; i < (host == 2 ? 220 : 20); i++) receive(); }
static void search(void) { char *p = read_index(1 << 20); if (host != 3) memset(p, 1, 1 << 20); }
static void cache(void) {
    for (int i = 0; i < 320; i++) store();
    for (int i = 0; i < 320; i++) if (host != 1 || i % 16) free(kept[i]);
}
int main(int argc, char **argv)
{
    void (*const all[])(void) = {shop, mail, search, cache};
    host = argc > 1 ? atoi(argv[1]) : 0;
    all[SERVICE]();
    work();
    usleep(20000);
    return 0;
}
'''
PAGE = open(f'{SOURCE}/docs/fleet.md', encoding='utf-8').read()
# A question, the language of its query, the query, and the answer.
BLOCK = re.compile(r'^\*\*([^*\n]+)\*\*(?:(?!^```|\*\*).)*^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?', re.S | re.M)
BLOCKS = BLOCK.findall(PAGE)
DASHBOARD = json.load(open(f'{SOURCE}/docs/fleet.grafana.json', encoding='utf-8'))


def record(release, host):
    """Records all services on a host of its own name, and returns the names of the sessions."""
    made, script = [], [f'hostname {host}'] if UNSHARE else []
    for service in SERVICES:
        for period in range(PERIODS):
            name = f'{service}.{host}.{release}.{period}'
            # The newest period is whole, and so is all but the shop.
            sample = '--sample=512' if service == 'shop' and host == 'web2' and period % 2 == 0 and period < PERIODS - 1 else ''
            script.append(f'MPROF_TEST_SEED={len(made)} {BUILD}/bin/mprof-run -q -f --label service={service} --label release={release} '
                          f'{sample} -o {name}.bin -- ./{service}.{release} {host[3:]}')
            made.append(name)
    run(*UNSHARE, 'sh', '-e', '-c', '\n'.join(script), cwd=WORK)
    return made


def load(name):
    host = name.split('.')[1]
    run(f'{BUILD}/bin/mprof-ingest', '-q', '-o', f'{WORK}/{name}.db', f'{WORK}/{name}.bin')
    if not UNSHARE:
        with sqlite3.connect(f'{WORK}/{name}.db') as database:
            database.execute("UPDATE meta SET value = ? WHERE key = 'host'", (host,))
        database.close()
    for form, folder in ('csv', f'rows/{name}'), ('parquet', 'lake'):
        run(f'{BUILD}/bin/mprof-export', '-q', '-f', form, '--tables', f'{WORK}/{folder}', f'{WORK}/{name}.db')


def make():
    """Makes the sessions. Returns their names, and when the second release began."""
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(f'{WORK}/rows')
    with open(f'{WORK}/service.c', 'w', encoding='utf-8') as out:
        out.write(PROGRAM)
    for i, service in enumerate(SERVICES):
        for release in RELEASES:
            run('cc', '-g', '-O1', '-fno-builtin', f'-DSERVICE={i}', f'-DRELEASE={release.replace(".", "")}', 'service.c',
                '-o', f'{service}.{release}', cwd=WORK)
    names = []
    for release in RELEASES:
        changed = datetime.datetime.now(datetime.timezone.utc)
        names += [name for host in HOSTS for name in record(release, host)]
    # The first one makes the folders, and lake/views.*.sql.
    load(names[0])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(load, names[1:]))
    return names, changed.strftime('%Y-%m-%d %H:%M:%S.%f')


def written(database):
    """What mprof-export --sql of the page writes, by the name of its file."""
    queries = {}
    for options, name in re.findall(r"mprof-export --sql postgresql (.*?)(?: -o|; } >) ?(\w+)\.sql$", PAGE, re.M):
        queries[name] = run(f'{BUILD}/bin/mprof-export', '--sql', database, *shlex.split(options)).stdout.decode()
    return queries


def statements(database, changed):
    """The views and the questions of the page as (what, SQL)."""
    asked = {name: text for name, kind, text, _ in BLOCKS if kind == 'postgresql'}
    queries = written(database)
    period = asked.pop('The periods')
    if database == 'clickhouse':
        period = re.sub(r'CAST\((replace\(.*\)) AS TIMESTAMP\)', r'parseDateTime64BestEffortOrNull(\1)', period)
    views = [period] + [f'CREATE VIEW {name} AS {queries.pop(name)}' for name in ('held', 'leak', 'peak')]
    asked = {name: text.replace('2026-11-29 14:05', changed) for name, text in asked.items()}
    asked |= {'Which type leaks on which host?': queries.pop('leaking'),
              'Which functions allocate much and hold nothing?': queries.pop('churning')}
    check('queries of the page', (len(asked), queries), (10, {}))
    panels = {panel['title']: target['rawSql'].replace('$__timeFilter(p.began)', "p.began >= '2000-01-01 00:00:00'")
              for panel in DASHBOARD['panels'] for target in panel['targets']}
    # percentile_cont, regr_slope and INTERVAL '10 minutes' are not of ClickHouse.
    return views, panels if database == 'clickhouse' else asked | panels


def numbers(rows):
    return [[int(float(v)) if isinstance(v, str) and re.fullmatch(r'-?[0-9.]+', v) and k > 0 and v not in RELEASES else v
             for k, v in enumerate(row)] for row in rows]


def near(value, wanted, part=0.15):
    return abs(value - wanted) <= part * wanted


def check_questions(database, answers):
    """Compares the answers with what the programs do."""
    def expect(question, found, wanted=True):
        check(f'{database}: {question}: {answers[question]}', found, wanted)

    rows = {question: [list(row) for row in numbers(found[1:])] for question, found in answers.items()}
    grown = rows['Which functions grew between two releases, over all hosts?']
    expect('Which functions grew between two releases, over all hosts?', grown,
           [['shop', 'open_session', 3 * 200 * 104], ['cache', 'store', 0], ['mail', 'receive', 0], ['search', 'read_index', 0]])
    peaks = {(service, release): (periods, p99) for service, release, periods, p99 in rows['What is the 99th percentile of the peak?']}
    for release in RELEASES:
        for service, peak in ('mail', 220 * 248 + 163), ('search', (1 << 20) + 163), ('cache', 320 * 1000):
            expect('What is the 99th percentile of the peak?', peaks[service, release], (PERIODS * 3, peak))
        expect('What is the 99th percentile of the peak?',
               near(peaks['shop', release][1], (100 if release == '1.4' else 300) * 104 + 163, 1), True)
    changed = {(service, user): value for service, user, value in rows['What changed at 14:05?']}
    expect('What changed at 14:05?', (near(changed.pop(('shop', 'open_session')), 200 * 104), set(changed.values())), (True, {0}))
    shared = 300 * 104 + (1 << 20)
    expect('Which machines hold most now?', rows['Which machines hold most now?'],
           [['web2', shared + 220 * 248], ['web1', shared + 20 * 248 + 20 * 1000], ['web3', shared + 20 * 248]])
    slopes = rows['Which services grow, and where?']
    expect('Which services grow, and where?', (sorted(row[:2] for row in slopes), min(row[2] for row in slopes) > 1000),
           ([['shop', host] for host in HOSTS], True))
    expect('Where does a machine hold more than the others?', rows['Where does a machine hold more than the others?'],
           [['mail', 'receive', 'web2', 220 * 248, 20 * 248]])
    untouched = rows['Which hosts hold most memory that they never touched?']
    expect('Which hosts hold most memory that they never touched?',
           (untouched[0][:2], near(untouched[0][2], 1 << 20), all(row[2] < 100000 for row in untouched[1:])), (['search', 'web3'], True, True))
    pinned = rows['Whose blocks keep free memory from the system?']
    expect('Whose blocks keep free memory from the system?', (len(pinned), pinned[0][:3], pinned[0][3] > 20000), (1, ['cache', 'web1', 'store'], True))
    names = answers['Which type leaks on which host?'][0]
    leaks = {tuple(row[:3]): row[names.index('live_bytes')] for row in rows['Which type leaks on which host?']}
    sampled = leaks.pop(('shop', 'web2', 'session'))
    wanted = {('shop', host, 'session'): PERIODS * 400 * 104 for host in ('web1', 'web3')}
    wanted |= {('mail', host, 'letter'): BOTH * 248 * (220 if host == 'web2' else 20) for host in HOSTS}
    wanted |= {('search', host, 'buffer'): BOTH << 20 for host in HOSTS}
    wanted |= {('cache', 'web1', 'entry'): BOTH * 20 * 1000}
    expect('Which type leaks on which host?', (leaks, near(sampled, PERIODS * 400 * 104)), (wanted, True))
    names = answers['Which functions allocate much and hold nothing?'][0]
    churned = {row[0]: (row[1], row[names.index('bytes')]) for row in rows['Which functions allocate much and hold nothing?']}
    expect('Which functions allocate much and hold nothing?',
           [(churned[service][0], near(churned[service][1], BOTH * 3 * 11350, 0.15 if service == 'shop' else 0)) for service in SERVICES],
           [('work', True)] * 4)


def table(names, rows):
    """An answer as the page shows it."""
    widths = [max(len(line[i]) for line in [names, *rows]) for i in range(len(names))]
    return ''.join('  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + '\n' for line in [names, *rows])


def shown(answer):
    """The columns that the page shows: of a written query the keys and two sums."""
    names = answer[0]
    if 'allocations' not in names:
        return names, answer[1:]
    chosen = [*range(names.index('allocations')), names.index('bytes'), names.index('live_bytes')]
    return [names[i] for i in chosen], [[row[i] for i in chosen] for row in answer[1:]]


def check_page(database, answers):
    """Compares with the answers of the page: the texts, and numbers of all sessions as far as machines and times let them."""
    for question, _, _, answer in BLOCKS:
        if question not in answers:
            continue
        wanted = [line.split() for line in answer.splitlines()]
        found = [line.split() for line in table(*shown(answers[question])).splitlines()]
        check(f'{database}: {question}: columns of the page', found[0], wanted[0] if wanted else None)
        if any('an_hour' in name for name in found[0]):  # times decide the order
            found[1:], wanted[1:] = sorted(found[1:], key=lambda row: row[:2]), sorted(wanted[1:], key=lambda row: row[:2])
        if not SOAK or not wanted or found[0] != wanted[0]:
            continue
        for row, line in itertools.zip_longest(found[1:], wanted[1:], fillvalue=[]):
            alike = len(row) == len(line) and all(
                a == b or 'an_hour' in name or (a.isdigit() and b.isdigit() and near(int(a), int(b), 0.3))
                for name, a, b in zip(found[0], row, line))
            check(f'{database}: {question}: the page', row if not alike else line, line)


def refresh(answers):
    def fresh(block):
        question, _, text, _ = block.groups()
        if question not in answers:
            return block.group(0)
        head = block.group(0)[:block.start(3) - block.start()]
        return f'{head}{text}```\n\n```text\n{table(*shown(answers[question]))}```\n'

    with open(f'{SOURCE}/docs/fleet.md', 'w', encoding='utf-8') as out:
        out.write(BLOCK.sub(fresh, PAGE))


def check_panels(database, answers):
    panels = {title: numbers(found[1:]) for title, found in answers.items()}
    live = panels['Live bytes by service']
    check(f'{database}: services in the dashboard', sorted({row[1] for row in live}), sorted(SERVICES))
    growth = {(service, release): value for service, release, value in panels['Growth by release: live bytes of a period']}
    check(f'{database}: growth in the dashboard', near(growth['shop', '1.5'] - growth['shop', '1.4'], 200 * 104), True)
    leaks = panels['Types and hosts that leak most, in the newest periods']
    check(f'{database}: leaks in the dashboard', ['mail', 'web2', 'letter', 2 * 220 * 248] in leaks, True)
    classes = panels['Classes of the resident set by host, of full recordings']
    check(f'{database}: classes in the dashboard', [(row[1], near(row[2], 1 << 20)) for row in classes if row[0] == 'web3'
                                                    and row[1] == 'live_untouched'], [('live_untouched', True)])
    held = panels['Functions that hold most, by release']
    check(f'{database}: functions in the dashboard', ['shop', '1.5', 'open_session', 3 * 300 * 104] in held, True)


def by_node(database, views, asked):
    with open(f'{WORK}/queries.json', 'w', encoding='utf-8') as out:
        json.dump([*views, *asked.values()], out)
    done = run('node', f'{SOURCE}/tests/readers/queries.js', database, json.dumps([f'{WORK}/lake']), f'{WORK}/queries.json',
               env=common.node_environment())
    return [json.loads(line) for line in done.stdout.decode().splitlines()][len(views):]


def by_psql(server, asked):
    for text in asked.values():
        done = server.psql('--csv', '-P', 'null=\u2400', input=text.encode())
        yield [line.split(',') for line in done.decode().splitlines()]


UNSHARE = ['unshare', '-u'] if subprocess.run(['unshare', '-u', 'hostname', 'web1'], capture_output=True, check=False).returncode == 0 else []
sessions, moment = make()
count = 0
with PostgreSQL() as server:
    quiet = dict(os.environ, PGCLIENTENCODING='UTF8', PGOPTIONS='-c client_min_messages=warning')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as loaders:
        list(loaders.map(lambda name: server.psql('-f', 'load.postgresql.sql', cwd=f'{WORK}/rows/{name}', env=quiet), sessions))
    for engine in ('postgresql', 'duckdb', *(['clickhouse'] if SOAK else [])):
        views, asked = statements(engine, moment)
        if engine == 'postgresql':
            for view in views:
                server.psql(input=view.encode())
            answers = dict(zip(asked, by_psql(server, asked)))
        else:
            answers = dict(zip(asked, by_node(engine, views, asked)))
        failed = {name: answer['error'] for name, answer in answers.items() if isinstance(answer, dict)}
        check(f'{engine}: errors', failed, {})
        if not failed and engine != 'clickhouse':
            check_questions(engine, answers)
            if SOAK and engine == 'postgresql' and os.environ.get('MPROF_REFRESH'):
                refresh(answers)
            else:
                check_page(engine, answers)
        if not failed:
            check_panels(engine, answers)
        count += len(asked)
finish(count)
