# SPDX-License-Identifier: BSD-2-Clause
# Compares call_node of sessions with the tree that stack, stack_frame and frame give, where node ids do not
# count: a node is the path of its functions. Compares stack_type and size_type with the rows.
import sqlite3, sys

STACK = 'bytes', 'allocations', 'live_bytes', 'live_count', 'at_peak_bytes', 'at_peak_count'
NODE = 'bytes', 'count', 'live_bytes', 'live_count', 'at_peak_bytes', 'at_peak_count'

def expected(db):
    """The sums (total, self) of each path, from the outermost function inwards."""
    nodes = {}
    function = dict(db.execute('SELECT id, function_id FROM frame'))
    for stack, site, *sums in db.execute(
            f'SELECT id, call_site_frame_id, {", ".join(STACK)} FROM stack WHERE allocations > 0').fetchall():
        frames = [row[0] for row in db.execute(
            'SELECT frame_id FROM stack_frame WHERE stack_id = ? ORDER BY depth', (stack,))]
        path = (0,) if site is None else tuple(function[f] for f in reversed(frames[frames.index(site):]))
        for end in range(1, len(path) + 1):
            total, own = nodes.setdefault(path[:end], ([0] * 6, [0] * 6))
            for i, value in enumerate(sums):
                total[i] += value
                own[i] += value if end == len(path) else 0
    return nodes

def found(db):
    nodes, paths = {}, {None: ()}
    columns = ', '.join(f'{part}_{name}' for part in ('total', 'self') for name in NODE)
    for node, parent, function, *sums in db.execute(f'SELECT id, parent_id, function_id, {columns} FROM v_call_tree ORDER BY id'):
        if node != len(paths) or parent is not None and parent >= node:
            sys.exit(f'{sys.argv[1]}: node {node} below {parent} is out of order')
        paths[node] = paths[parent] + (function,)
        if paths[node] in nodes:
            sys.exit(f'{sys.argv[1]}: two nodes have the path {paths[node]}')
        nodes[paths[node]] = (sums[:6], sums[6:])
    return nodes

for name in sys.argv[1:]:
    db = sqlite3.connect(name)
    want, got = expected(db), found(db)
    for path in want.keys() | got.keys():
        if want.get(path) != got.get(path):
            sys.exit(f'{name}: {path}: {got.get(path)} instead of {want.get(path)}')
    one = lambda sql: db.execute(sql).fetchone()
    types = {'v_stack_total': 'stack_id', 'v_size_bin': 'size'}
    for view, key in types.items():
        names = {}
        for value, text in db.execute(
                f'SELECT a.{key}, t.name FROM allocation a JOIN type t ON t.id = a.type_id WHERE arena_id = 0'
                f' GROUP BY a.{key}, t.id ORDER BY a.{key}, count(*) DESC, t.name'):
            names.setdefault(value, []).append(text)
        got_types = {value: text for value, text in db.execute(f'SELECT {key}, types FROM {view} WHERE types IS NOT NULL')}
        if got_types != {value: ', '.join(list_) for value, list_ in names.items()}:
            sys.exit(f'{name}: {view}: {got_types} instead of {names}')
    checks = {
        'types of stacks': ('SELECT count(*) FROM (SELECT stack_id, type_id, allocations, bytes, live_count, live_bytes FROM v_stack_type EXCEPT'
                            ' SELECT stack_id, type_id, count(*), sum(size), sum(free_ns IS NULL), total(size) FILTER (WHERE free_ns IS NULL)'
                            ' FROM allocation WHERE arena_id = 0 GROUP BY 1, 2)', 'SELECT 0'),
        'their number': ('SELECT count(*), sum(allocations) FROM stack_type', 'SELECT count(*), sum(n) FROM'
                         ' (SELECT count(*) AS n FROM allocation WHERE arena_id = 0 GROUP BY stack_id, type_id)'),
        'types of sizes': ('SELECT count(*) FROM (SELECT * FROM size_type EXCEPT SELECT size, type_id, count(*), sum(free_ns IS NULL)'
                           ' FROM allocation WHERE arena_id = 0 GROUP BY 1, 2)', 'SELECT 0'),
        'their number, too': ('SELECT count(*), sum(allocations) FROM size_type', 'SELECT count(*), sum(n) FROM'
                              ' (SELECT count(*) AS n FROM allocation WHERE arena_id = 0 GROUP BY size, type_id)'),
        'bytes': ("SELECT sum(total_bytes), sum(total_count) FROM v_call_tree WHERE parent_id IS NULL",
                  "SELECT (SELECT value FROM meta WHERE key = 'bytes_allocated'), (SELECT value FROM meta WHERE key = 'allocations')"),
        'functions': ("SELECT count(*) FROM function_total t LEFT JOIN (SELECT function_id, sum(self_bytes) AS b, sum(self_count) AS c,"
                      " sum(self_live_bytes) AS l, sum(self_at_peak_bytes) AS p FROM call_node GROUP BY 1) n ON n.function_id = t.function_id"
                      " WHERE (t.self_bytes, t.self_count, t.live_bytes, t.at_peak_bytes) IS NOT (ifnull(n.b, 0), ifnull(n.c, 0), ifnull(n.l, 0), ifnull(n.p, 0))", 'SELECT 0'),
        'integrity': ('SELECT * FROM pragma_integrity_check', "SELECT 'ok'"),
        'foreign keys': ('SELECT count(*) FROM pragma_foreign_key_check', 'SELECT 0'),
    }
    for what, (sql, other) in checks.items():
        if one(sql) != one(other):
            sys.exit(f'{name}: {what}: {one(sql)} instead of {one(other)}')
    print(f'{name}: {len(got)} nodes of {one("SELECT count(*) FROM stack WHERE allocations > 0")[0]} stacks')
