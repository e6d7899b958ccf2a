# SPDX-License-Identifier: BSD-2-Clause
"""The queries of docs/fleet.md about the sessions of many machines, with what the sessions themselves answer.
databases.py asks the databases. There are 12 sessions, with MPROF_SOAK 100, each then recorded by itself."""
import collections
import datetime
import os
import re
import shutil
import sqlite3
import statistics

import common
from common import BUILD, run

SOAK = os.environ.get('MPROF_SOAK') == '1'
HOSTS, PERIODS = (10, 10) if SOAK else (4, 3)
BEGAN = datetime.datetime(2026, 1, 5, 12)
PROGRAM = '''#include <stdlib.h>
void *kept[10000];
static __attribute__((noinline)) void *open_session(int size) { return malloc(size); }
static __attribute__((noinline)) void *answer(int size) { return malloc(size); }
int main(int count, char **arguments)
{
    for (int i = 0; i < atoi(arguments[1]); i++) {
        kept[i] = open_session(1000 + i % 7);
        free(answer(500));
    }
    kept[9999] = answer(100000);
    return count != 2;
}
'''
GROWTH = 50000  # bytes that the third machine grows by in each period, where periods are copies


def blocks():
    """Returns the statements of the page: the view, and the queries by what the page calls them."""
    text = open(f'{common.SOURCE}/docs/fleet.md', encoding='utf-8').read()
    found = re.findall(r'^\*\*(.*?)\*\*[^`]*?^```postgresql\n(.*?)^```$', text, re.S | re.M)
    assert len(found) == 5, [name for name, _ in found]
    return found[0][1], dict(found[1:])


def record(path, host, period):
    """Records the program, on the second machine whole. On the third it opens more sessions, and more in each period."""
    seed, sessions = 1000 * host + period, 4000 + 100 * period if host == 3 else 2000
    sample = [] if host == 2 else ['--sample=4K']
    run(f'{BUILD}/bin/mprof-run', '-q', '-f', *sample, '-o', 'fleet/one.bin', 'fleet/shop', str(sessions),
        env=dict(os.environ, MPROF_TEST_SEED=str(seed)))
    run(f'{BUILD}/bin/mprof-ingest', '-q', '-f', '-o', path, 'fleet/one.bin')


def make():
    """Makes the sessions, one for each machine and period, and returns their paths."""
    shutil.rmtree('fleet', ignore_errors=True)
    os.makedirs('fleet')
    run('cc', '-g', '-O1', '-fno-builtin', '-x', 'c', '-', '-o', 'fleet/shop', input=PROGRAM.encode())
    paths = []
    for host in range(1, HOSTS + 1):
        first = None
        for period in range(PERIODS):
            path = f'fleet/shop.web{host}.{period:04}.db'
            if SOAK or not first:
                record(path, host, period)
            else:
                shutil.copy(first, path)
            first = first or path
            with sqlite3.connect(path) as database:
                began = BEGAN + datetime.timedelta(minutes=period)
                database.execute("UPDATE meta SET value = ? WHERE key = 'start_time'", (began.isoformat() + '.000Z',))
                database.execute("UPDATE meta SET value = ? WHERE key = 'host'", (f'web{host}',))
                database.execute("UPDATE meta SET value = value + ? WHERE key = 'estimated_live_bytes_end'",
                                 (GROWTH * period * (host == 3),))
            database.close()
            paths.append(path)
    return paths


class Period:
    def __init__(self, path):
        with sqlite3.connect(f'file:{path}?mode=ro', uri=True) as database:
            self.meta = dict(database.execute('SELECT key, value FROM meta'))
            self.host = self.meta['host']
            self.live = self.meta.get('estimated_live_bytes_end', self.meta['live_bytes_end'])
            self.build = database.execute('SELECT build_id FROM module WHERE path = ?',
                                          (self.meta['executable'],)).fetchone()[0]
            held = 'estimate' if self.meta['sampled'] else '(SELECT stack_id, size AS live_bytes FROM allocation WHERE free_ns IS NULL)'
            self.functions = dict(database.execute(
                f'SELECT f.name, sum(e.live_bytes) FROM {held} e JOIN stack s ON s.id = e.stack_id '
                'JOIN function f ON f.id = s.function_id GROUP BY f.name'))
        database.close()


def slope(values):
    """Least squares, by minutes, in bytes an hour."""
    times = range(len(values))
    middle, mean = statistics.mean(times), statistics.mean(values)
    return 60 * sum((t - middle) * (v - mean) for t, v in zip(times, values)) / sum((t - middle) ** 2 for t in times)


def answers(paths):
    """Returns what each query must answer, from the sessions without SQL of the page."""
    hosts = collections.defaultdict(list)
    for path in paths:
        period = Period(path)
        hosts[period.host].append(period)
    held, functions = collections.defaultdict(dict), collections.defaultdict(lambda: [0, 0])
    for host, periods in hosts.items():
        for name, live in periods[-1].functions.items():
            if live > 0:
                functions[name][0] += 1
                functions[name][1] += live
        for name in {name for period in periods for name in period.functions}:
            held[name][host] = statistics.mean(period.functions[name] for period in periods if name in period.functions)
    odd = [[name, host, round(live), round(statistics.median(by_host.values()))]
           for name, by_host in held.items() for host, live in by_host.items()
           if live > 1.1 * statistics.median(by_host.values())]
    return {
        'Which machines hold most now?':
            sorted(([host, periods[-1].live] for host, periods in hosts.items()), key=lambda row: (-row[1], row[0]))[:10],
        'Which machines grow?':
            sorted(([host, round(slope([period.live for period in periods]))] for host, periods in hosts.items()),
                   key=lambda row: (-row[1], row[0]))[:10],
        'Which functions hold most, over all machines?':
            sorted(([name, count, round(live)] for name, (count, live) in functions.items()),
                   key=lambda row: (-row[2], row[0]))[:10],
        'Where does a machine hold more than the others?':
            sorted(odd, key=lambda row: (row[3] - row[2], row[0], row[1]))[:10],
    }
