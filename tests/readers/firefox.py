# SPDX-License-Identifier: BSD-2-Clause
"""Mozilla's profiler-cli reads firefox and chrome: sums of functions, threads, markers, counters. So does the
engine of Chrome's DevTools."""
import json
import os
import tempfile

import common
from common import Session, check, clean, export, finish, run

NPM = f'{common.BUILD}-npm/node_modules'
PROGRAM = ['bash', f'{common.SOURCE}/tests/readers/profiler_cli.sh']
SOCKETS = tempfile.TemporaryDirectory()  # the path of a socket has at most 107 bytes
ENVIRONMENT = dict(common.node_environment(), HOME=f'{os.getcwd()}/firefox-home', PROFILER_CLI_SESSION_DIR=SOCKETS.name)
os.makedirs(ENVIRONMENT['HOME'], exist_ok=True)


def ask(*command):
    """Runs a command and returns its JSON."""
    text = run(*PROGRAM, *command, '--json', env=ENVIRONMENT).stdout.decode('utf-8')
    return json.loads(text)


def load(file, late=False):
    """Loads a file into the program's daemon, which may begin later than the program waits for it."""
    environment = dict(ENVIRONMENT)
    if late:
        slow = f'{SOCKETS.name}/slow.js'
        with open(slow, 'w', encoding='utf-8') as script:
            script.write('if (process.argv.includes("--daemon")) '
                         'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);')
        environment['NODE_OPTIONS'] = f'--require={slow}'
    run(*PROGRAM, 'load', file, env=environment)


def functions(strategy):
    rows = ask('thread', 'functions', '--limit', '0', '--strategy', strategy)['functions']
    own, total = {}, {}
    for row in rows:
        own[row['name']] = own.get(row['name'], 0) + row['selfSamples']
        total[row['name']] = max(total.get(row['name'], 0), row['totalSamples'])
    return {k: v for k, v in own.items() if v}, {k: v for k, v in total.items() if v}


def recorded(session, condition='1'):
    """Bytes of the recorded blocks by function, of a sample, too."""
    sums = {}
    for function, size in session.rows('SELECT function_id, sum(size) FROM allocation JOIN stack s ON s.id = '
                                       f'stack_id WHERE arena_id = 0 AND {condition} GROUP BY 1'):
        name = session.names[function or 0]
        sums[name] = sums.get(name, 0) + size
    return {k: v for k, v in sums.items() if v}


checked = 0
try:
    for path in common.SESSIONS:
        session = Session(path)
        load(export(path, 'firefox', suffix='.json'), late=path == common.SESSIONS[0])
        own, total = functions('native-allocations')
        check(f'{path} allocations', own, recorded(session))
        # Retained blocks by address: what was freed by its own free is not there.
        if len(session.rows('SELECT 1 FROM process')) < 2:
            own, total = functions('native-retained-allocations')
            check(f'{path} retained', own, recorded(session, 'free_ns IS NULL'))
        checked += 2
        run(*PROGRAM, 'stop', '--all', env=ENVIRONMENT)

    session = Session('sessions/shop.db')
    load(export(session.path, 'firefox', '--frames', 'all', suffix='.all.json'))
    check('all frames', functions('native-allocations')[1], session.stack_sums())
    data = json.load(open(export(session.path, 'firefox', suffix='.json'), encoding='utf-8'))
    counts = data['counters'][0]['samples']['count']
    check('counter', sum(counts), session.totals()[3])
    run(*PROGRAM, 'stop', '--all', env=ENVIRONMENT)
    refused = run(f'{common.BUILD}/bin/mprof-export', '-f', 'firefox', '--max-events', '100', '-o', 'out/none',
                  session.path, status=1)
    check('too many events', b'more than 100 events' in refused.stderr and not os.path.exists('out/none'), True)
    checked += 3

    for path in ('sessions/shop.db', 'sessions/hostile.db', 'sessions/forks.db'):
        session = Session(path)
        file = export(path, 'chrome', '--events', '50', suffix='.json')
        load(file)
        threads = ask('thread', 'list')['threads']
        names = {clean(n or b'?') for n, in session.rows(
            'SELECT name FROM thread WHERE id IN (SELECT thread_id FROM allocation ORDER BY size DESC, id LIMIT 50)')}
        check(f'{path} threads', {t['name'] for t in threads} >= names, True)
        run(*PROGRAM, 'stop', '--all', env=ENVIRONMENT)
        parsed = json.loads(run('node', f'{common.SOURCE}/tests/readers/trace_engine.mjs', NPM, file,
                                env=common.node_environment()).stdout)
        check(f'{path} engine threads', sorted(parsed['threads']), sorted(
            [tid, clean(name) if name else '?'] for tid, name in session.rows('SELECT tid, name FROM thread')))
        check(f'{path} engine process', parsed['processes'],
              [[int(session.meta['pid']), clean(session.one("SELECT value FROM meta WHERE key = 'program'")[0])]])
        events = json.load(open(file, encoding='utf-8'))['traceEvents']
        lives = sorted((e['args']['bytes'] for e in events if e['ph'] == 'b'), reverse=True)
        check(f'{path} largest', lives, [s for s, in session.rows(
            'SELECT size FROM allocation WHERE arena_id = 0 ORDER BY size DESC LIMIT 50')])
        # Every life has an end: that of the recording, if the block was never freed.
        ends = {e['id']: e for e in events if e['ph'] == 'e'}
        check(f'{path} ends', sorted(ends), sorted(e['id'] for e in events if e['ph'] == 'b'))
        for number, freed in session.rows('SELECT id, free_ns FROM allocation WHERE arena_id = 0 '
                                          'ORDER BY size DESC, id LIMIT 50'):
            last = int(session.meta['duration_ns']) if freed is None else freed
            check(f'{path} end of {number}', (round(ends[number]['ts'] * 1000), ends[number]['args'].get('freed')),
                  (last, 'never' if freed is None else None))
        # A block's life is one marker.
        check(f'{path} lives', sum(t['markerCount'] for t in threads), len(lives) + len(
            session.rows('SELECT 1 FROM mark')))
        heap = [e['args']['live'] for e in events if e['ph'] == 'C' and e['name'] == 'heap']
        check(f'{path} heap', heap[-1], session.totals()[3])
        checked += 57
finally:
    run(*PROGRAM, 'stop', '--all', env=ENVIRONMENT, status=None)
finish(checked)
