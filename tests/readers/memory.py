# SPDX-License-Identifier: BSD-2-Clause
"""Every format stays below 256 MiB: in the soak with 10 M allocations in 230,000 stacks."""
import os
import resource
import sys

import common
from common import run

LIMIT_KIB = 256 << 10
FORMATS = ('pprof pprof-text collapsed speedscope callgrind massif dhat heaptrack svg chrome csv '
           'ndjson').split()
MANY_EVENTS = ['--max-events', '1000000000']  # firefox refuses two millions and more else
DIFFERENCES = ('csv', 'ndjson', 'pprof', 'collapsed')
soak = os.environ.get('MPROF_SOAK') == '1'
os.makedirs('out', exist_ok=True)
run(f'{common.BUILD}/tests/make_session', 'out/memory.db', '10000000' if soak else '300000',
    '230000' if soak else '20000', '2000')
# Another session, of which few allocations are equal: all rows of both differ.
run(f'{common.BUILD}/tests/make_session', 'out/memory.base.db', '10000000' if soak else '300000',
    '230000' if soak else '20000', '2000', '4', '7')
failed = 0
cases = [[form] for form in (FORMATS if soak else ('pprof', 'heaptrack', 'dhat'))]
cases += [['firefox', *MANY_EVENTS]]
cases += [[form, '--base', 'out/memory.base.db'] for form in (DIFFERENCES if soak else ('csv',))]
for form, *options in cases:
    # Waiting gives the largest of all children so far: each format runs in a child of its own.
    child = os.fork()
    if child == 0:
        run(f'{common.BUILD}/bin/mprof-export', '--format', form, *options, '-o', 'out/memory.out',
            'out/memory.db')
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f'{form} {options[:1]}: {used} KiB', flush=True)
        os._exit(used > LIMIT_KIB)
    failed += os.waitpid(child, 0)[1] != 0
for file in ('memory.db', 'memory.base.db', 'memory.out'):
    os.remove(f'out/{file}')
sys.exit(1 if failed else 0)
