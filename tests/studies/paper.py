# SPDX-License-Identifier: BSD-2-Clause
"""Slowdown and storage of recording, as the paper of 1988 measured them: the example with 100,000
widgets, a C compiler, a document processor and a Lisp program. By processor time, the least of interleaved runs.
usage: paper.py FOLDER-OF-PROGRAMS SOURCES"""
import glob
import os
import shutil
import sqlite3
import subprocess
import sys

BIN, SOURCES = sys.argv[1:]
RUNS = 5

WIDGETS = '''#include <stdlib.h>
struct widget { struct widget *next; char red, blue; char data[190]; };
struct widget *volatile kept;
static struct widget *make_widget(void) { return malloc(sizeof(struct widget)); }
static void make_red_widget(void) { struct widget *w = make_widget(); w->next = kept; kept = w; }
static void make_blue_widget(void) { free(make_widget()); }
int main(void)
{
    for (int i = 0; i < 100000; i++)
        i % 2 ? make_red_widget() : make_blue_widget();
    return 0;
}
'''


def time_of(command, name):
    """Runs a command and returns its processor time in seconds and its largest memory in KiB: the
    memory by time(1), because a child of this interpreter begins with its memory."""
    with open(f'{name}.out', 'wb') as out:
        process = subprocess.Popen(['time', '-q', '-o', f'{name}.memory', '-f', '%M', *command], stdout=out,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f'{command}: status {status}: {open(f"{name}.out", errors="replace").read()[-500:]}')
    with open(f'{name}.memory') as memory:
        return used.ru_utime + used.ru_stime, int(memory.read())


def programs():
    with open('widgets.c', 'w') as out:
        out.write(WIDGETS)
    subprocess.run(['gcc', '-g', '-O1', '-fno-inline', '-fno-builtin', '-o', 'widgets', 'widgets.c'], check=True)
    yield 'widgets', [], ['./widgets']
    with open('functions.c', 'w') as out:
        for i in range(400):
            out.write(f'struct s{i} {{ int a[{i % 7 + 1}]; struct s{i} *next; }};\n'
                      f'int f{i}(struct s{i} *s, int n)\n{{\n    int sum = 0;\n    for (int i = 0; i < n; i++)\n'
                      f'        sum += s->a[i % {i % 7 + 1}] * {i} + (s->next ? f{i}(s->next, n - 1) : {i % 3});\n'
                      '    return sum;\n}\n')
    cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, check=True, text=True).stdout.strip()
    yield 'cc1 -O1', [], [cc1, '-quiet', '-O1', 'functions.c', '-o', 'functions.s']
    with open('pages.man', 'wb') as out:
        for _ in range(20):
            for page in sorted(glob.glob(f'{SOURCES}/docs/man/*.1')):
                out.write(open(page, 'rb').read())
    yield 'troff', [], ['troff', '-mandoc', '-Tutf8', 'pages.man']
    for name in ('compiler.lisp', 'compile_programs.lisp', 'programs.scm'):
        shutil.copy(f'{SOURCES}/tests/programs/lisp/{name}', name)
    subprocess.run(['ecl', '--norc', '--eval', '(progn (compile-file "compiler.lisp") (ext:quit 0))'], check=True, capture_output=True)
    yield 'Lisp compiler', ['--ecl'], ['ecl', '--norc', '--shell', 'compile_programs.lisp', 'compiler.fas', 'programs.scm', '200']


print('| | allocations | seconds alone | recorded | slowdown | ingest and tables | memory alone, KiB | recorded | trace, KiB | bytes an event |\n'
      '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
for name, options, command in programs():
    alone, recorded = [], []
    record = [f'{BIN}/mprof-run', '-q', '--force', *options, '-o', 'paper.bin', '--', *command]
    for _ in range(RUNS):
        alone.append(time_of(command, 'alone'))
        recorded.append(time_of(record, 'recorded'))
    seconds, memory = min(t for t, _ in alone), min(m for _, m in alone)
    slow, more = min(t for t, _ in recorded), min(m for _, m in recorded)
    reduce = time_of([f'{BIN}/mprof-ingest', '-q', '--force', '-o', 'paper.db', 'paper.bin'], 'ingest')[0]
    size = os.stat('paper.bin').st_blocks // 2
    db = sqlite3.connect('paper.db')
    meta = dict(db.execute('SELECT key, value FROM meta'))
    objects, freed = db.execute('SELECT count(*), count(free_ns) FROM allocation WHERE arena_id > 0').fetchone() # of Lisp
    lisp = ['--filter', 'all | where arena == ECL'] if objects else []
    reduce += time_of([f'{BIN}/mprof-report', '1988', *lisp, 'paper.db'], 'tables')[0]
    allocations, events = int(meta['allocations']) + objects, int(meta['events']) + objects + freed
    print(f'| {name} | {allocations} | {seconds:.3f} | {slow:.3f} | {slow / seconds:.2f} | {reduce:.2f} | {memory} | {more} | '
          f'{size} | {size * 1024 / events:.1f} |', flush=True)
    if int(meta['overlaps']) or int(meta['damaged_bytes']) or allocations < 10000:
        raise SystemExit(f'{name}: the session is not sound')
