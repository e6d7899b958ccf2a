# SPDX-License-Identifier: BSD-2-Clause
"""The tables of the study of ECL, from the session of the compiler and that of the one with small tables.
usage: ecl_tables.py SESSION SMALLER"""
import re
import sqlite3
import subprocess
import sys

session, smaller = sys.argv[1:]
db = sqlite3.connect(f'file:{session}?mode=ro', uri=True)


def table(columns, rows):
    print('\n| ' + ' | '.join(name for name, _ in columns) + ' |')
    print('| ' + ' | '.join('---:' if right else '---' for _, right in columns) + ' |')
    for row in rows:
        print('| ' + ' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row) + ' |')


def by(keys, order, most, where=''):
    """Groups of objects with sums: objects, bytes, kept objects, kept bytes."""
    return db.execute(f"""SELECT {keys}, count(*) AS objects, sum(v.size) AS bytes, sum(v.kept) AS kept,
        sum(v.size * v.kept) AS kept_bytes FROM v_allocation v WHERE v.arena_id > 0 {where}
        GROUP BY {keys} ORDER BY {order} DESC LIMIT {most}""").fetchall()


def share(part, whole):
    return f'{100 * part / whole:.1f} %'


objects, bytes_all, kept, kept_all = db.execute("""SELECT count(*), sum(size), sum(kept), sum(size * kept) FROM v_allocation
    WHERE arena_id > 0""").fetchone()
collections, = db.execute('SELECT count(*) FROM collection').fetchone()
table([('objects', 1), ('bytes', 1), ('kept objects', 1), ('kept bytes', 1), ('collections', 1)],
      [(objects, bytes_all, kept, kept_all, collections)])
table([('type', 0), ('objects', 1), ('bytes', 1), ('share', 1), ('kept bytes', 1)],
      [(f'`{t}`', n, b, share(b, bytes_all), kb) for t, n, b, _, kb in by('v.type', 'bytes', 8)])
table([('function', 0), ('type', 0), ('objects', 1), ('bytes', 1), ('share', 1)],
      [(f'`{f}`', f'`{t}`', n, b, share(b, bytes_all)) for f, t, n, b, _, _ in by('v.user, v.type', 'bytes', 8)])
table([('function', 0), ('type', 0), ('kept objects', 1), ('kept bytes', 1), ('share of kept', 1)],
      [(f'`{f}`', f'`{t}`', k, kb, share(kb, kept_all))
       for f, t, _, _, k, kb in by('v.user, v.type', 'kept_bytes', 8)])

# The four tables of 1988, as the report prints them, by their first lines.
text = subprocess.run(['mprof-report', '1988', '-terse', '--filter', 'all | where arena == ECL', session], check=True,
                      capture_output=True, encoding='utf-8').stdout
bins, leaks, direct, graph = re.split(r'^-{9} .*(?:Types|Memory|Leaks|Table|Graph) -{12}\n', text, flags=re.M)[1:]
row = re.compile(r'^ *(\d+|> 1024|other bins|<TOTAL>) +(\d+) +(\d+) (?:\(.*?\))? +(\d+) +(\d+) (?:\(.*?\))? *(.*)$', re.M)
table([('size', 1), ('allocs', 1), ('bytes', 1), ('frees', 1), ('kept', 1)],
      [(label, *map(int, sums)) for label, *sums, _ in row.findall(bins)])
row = re.compile(r'^ +(\d+) \(.*?\) +(\d+) +(\d+) \(.*?\) .*?(?:\|\||\.\.\.)> (.*?) *$', re.M)
table([('kept bytes', 1), ('allocs', 1), ('bytes', 1), ('path', 0)],
      [(int(k), int(n), int(b), f'`{path}`') for k, n, b, path in row.findall(leaks)[:6]])
row = re.compile(r'^ +([\d.]+) +(\d+) \|.*?\| +(\d+) \|.*?\| +(\d+)   (.*)$', re.M)
table([('% mem', 1), ('bytes', 1), ('bytes kept', 1), ('calls', 1), ('name', 0)],
      [(percent, int(b), int(k), int(n), f'`{name.strip()}`') for percent, b, k, n, name in row.findall(direct)[:8]])
row = re.compile(r'^\[\d+\] +([\d.]+) +(\d+) .*?\|.*?\|.*?\| +(\d+)\S* +(.*?) \[\d+\]$', re.M)
table([('self + desc, %', 1), ('self, bytes', 1), ('called', 1), ('function or cycle', 0)],
      [(percent, int(b), int(n), f'`{name.strip()}`') for percent, b, n, name in row.findall(graph)[:8]])

other = sqlite3.connect(f'file:{smaller}?mode=ro', uri=True)
table([('table of labels', 0), ('objects', 1), ('bytes', 1), ('collections', 1)],
      [(name, *d.execute("""SELECT count(*), sum(size), (SELECT count(*) FROM collection) FROM v_allocation
          WHERE arena_id > 0""").fetchone()) for name, d in (('of the default size', db), ('with :size 8', other))])
