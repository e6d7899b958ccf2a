# SPDX-License-Identifier: BSD-2-Clause
"""Shared by the tests of the readers: sessions by SQL, exports, and comparisons."""
import glob
import math
import os
import re
import sqlite3
import subprocess
import sys

BUILD, SOURCE = os.environ['MPROF_BUILD'], os.environ['MPROF_SOURCE']
SESSIONS = sorted(glob.glob('sessions/*.db'))
failures = []


def name_of(path):
    return os.path.basename(path)[:-3]


def check(what, got, wanted):
    """Notes a difference. Sums must be equal to the last byte."""
    if isinstance(got, dict) and isinstance(wanted, dict):
        differ = [k for k in got.keys() | wanted.keys() if got.get(k) != wanted.get(k)]
        got, wanted = ({k: d.get(k) for k in differ[:4]} for d in (got, wanted))
    if got != wanted:
        failures.append(f'{what}: the reader has {str(got)[:300]}, SQL {str(wanted)[:300]}')


def finish(checked):
    for line in failures[:20]:
        print(line)
    print(f'{checked} comparisons, {len(failures)} failures')
    sys.exit(1 if failures or checked == 0 else 0)


def run(*command, status=0, **more):
    done = subprocess.run(command, capture_output=True, **more)
    if status is not None and done.returncode != status:
        raise SystemExit(f'{command[:8]} ended with {done.returncode}:\n'
                         f'{done.stdout[-2000:]!r}\n{done.stderr[-2000:]!r}')
    return done


def export(session, form, *options, suffix=None):
    """Exports a session, all processes together unless told, and returns the name of the file."""
    if '--process' not in options:
        options += ('--process', 'all')
    os.makedirs('out', exist_ok=True)
    path = f'out/{name_of(session)}.{form}{suffix or ""}'
    run(f'{BUILD}/bin/mprof-export', '--format', form, '-o', path, *options, session)
    return path


def node_environment():
    """The environment in which node finds the packages of both package.json, and no network."""
    return dict(os.environ, NODE_PATH=f'{BUILD}-npm/node_modules:{BUILD}-npm-soak/node_modules', NODE_OPTIONS='')


STEERS = set(range(0x20)) | set(range(0x7f, 0xa0)) | set(range(0x2028, 0x202f)) | \
    set(range(0x2066, 0x206a)) | {0x061c, 0x200e, 0x200f, 0xfeff}


def clean(raw):
    """A name as formats show it: U+FFFD for what is not UTF-8 or could steer a terminal."""
    if raw is None:
        return '?'
    out, i = [], 0
    while i < len(raw):
        size = 1 if raw[i] < 0x80 else 2 if raw[i] < 0xe0 else 3 if raw[i] < 0xf0 else 4
        try:
            glyph = raw[i:i + size].decode('utf-8')
        except UnicodeDecodeError:
            glyph = ''
        if len(glyph) != 1 or ord(glyph) in STEERS:
            out += '\ufffd' * (1 if len(glyph) != 1 else size)
            i += size if len(glyph) == 1 else 1
        else:
            out.append(glyph)
            i += size
    return ''.join(out)


class Session:
    """The tables of a session."""

    def __init__(self, path):
        self.path = path
        self.db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        self.db.text_factory = bytes
        self.meta = {k.decode(): v.decode('utf-8', 'replace') if isinstance(v, bytes) else v
                     for k, v in self.db.execute('SELECT key, value FROM meta')}
        self.sampled = int(self.meta.get('sampled', 0)) and int(self.meta['sample_interval'])
        self.names = {i: clean(n) or '?' for i, n in self.db.execute('SELECT id, name FROM function')}
        self.names[0] = '?'

    def rows(self, sql):
        return self.db.execute(sql).fetchall()

    def one(self, sql):
        return self.db.execute(sql).fetchone()

    def totals(self):
        """allocations, bytes, live count, live bytes of the heap."""
        if self.sampled:
            return tuple(sum(self.estimated()[column].values()) for column in self.COLUMNS)
        return tuple(int(self.meta[k]) for k in
                     ('allocations', 'bytes_allocated', 'live_count_end', 'live_bytes_end'))

    COLUMNS = ('self_count', 'self_bytes', 'live_count', 'live_bytes')

    def estimated(self):
        """The same columns of function_total as estimates, from the blocks of a sample."""
        sums = {column: {} for column in self.COLUMNS}
        for row, size, live, function in self.rows(
                'SELECT a.id, size, free_ns IS NULL, function_id FROM allocation a '
                'JOIN stack s ON s.id = stack_id WHERE arena_id = 0'):
            weight = -1.0 / math.expm1(-(size or 1) / self.sampled)
            # A number of blocks is rounded up as often as its fraction says.
            place = ((row - 1) * 0x9e3779b97f4a7c15 & (1 << 64) - 1) >> 11
            parts = (int(weight + place * 2.0 ** -53), int(weight * size + 0.5))
            for column, part in zip(self.COLUMNS, parts + (parts if live else (0, 0))):
                sums[column][function] = sums[column].get(function, 0) + part
        return sums

    def stack_sums(self, name=lambda text: text):
        """Bytes of all stacks with a name: a name that several functions of one stack have counts
        once."""
        sums = {}
        for stack, size in self.rows('SELECT id, bytes FROM stack WHERE bytes > 0'):
            names = {name(self.names[f]) for f, in self.rows(
                'SELECT function_id FROM stack_frame JOIN frame f ON f.id = frame_id '
                f'WHERE stack_id = {stack}')}
            for function in names or {'?'}:
                sums[function] = sums.get(function, 0) + size
        return sums

    def peak_bytes(self):
        """Live bytes at the moment that `meta` calls the peak."""
        return self.one('SELECT coalesce(sum(size), 0) FROM allocation WHERE arena_id = 0 AND '
                        f'alloc_ns <= {self.meta["peak_ns"]} AND '
                        f'(free_ns IS NULL OR free_ns > {self.meta["peak_ns"]})')[0]

    def functions(self, column, name=lambda text: text):
        """A column of function_total by name, without zeros."""
        sums = {}
        rows = self.estimated()[column].items() if self.sampled else \
            self.rows(f'SELECT function_id, {column} FROM function_total')
        for function, value in rows:
            key = name(self.names[function])
            sums[key] = sums.get(key, 0) + value
        return {k: v for k, v in sums.items() if v}


def numbers(text):
    return [int(x) for x in re.findall(r'-?\d+', text)]
