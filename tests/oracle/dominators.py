# SPDX-License-Identifier: BSD-2-Clause
"""Compares dominators with those of networkx: on 1,000 random graphs, and on the snapshots of sessions, whose graphs are
built from the table reference as docs/session-schema.md says. Arguments: the program find_dominators, and sessions."""
import random
import sqlite3
import subprocess
import sys
from collections import defaultdict

import networkx

GRAPHS = 1000
OUTSIDE, LOST = "outside", "lost"


def dominators(graph, root):
    """Returns the immediate dominators without that of the root, which versions of networkx give or do not."""
    found = dict(networkx.immediate_dominators(graph, root))
    found.pop(root, None)
    return found


def random_graph(numbers):
    nodes = numbers.choice((2, 5, 20, 100, 400))
    near = numbers.random() < 0.3  # long paths
    edges = []
    for _ in range(numbers.randrange(3 * nodes)):
        source = numbers.randrange(nodes)
        edges.append((source, (source + numbers.randrange(1, 4)) % nodes if near else numbers.randrange(nodes)))
    return nodes, edges


def check_random(program):
    numbers = random.Random(7)
    graphs = [random_graph(numbers) for _ in range(GRAPHS)]
    text = "".join(f"{nodes} {len(edges)}\n" + "".join(f"{a} {b}\n" for a, b in edges) for nodes, edges in graphs)
    lines = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == GRAPHS, len(lines)
    reached = 0
    for (nodes, edges), line in zip(graphs, lines):
        graph = networkx.DiGraph(edges)
        graph.add_nodes_from(range(nodes))
        expected = dominators(graph, 0)
        reached += len(expected)
        got = {node: int(of) for node, of in enumerate(line.split()) if of != "-1"}
        assert got == expected, f"{edges}: {got}, networkx {expected}"
    print(f"{GRAPHS} random graphs: {reached} nodes have the same dominator")


def check_snapshot(database, name, snapshot):
    ask = lambda sql: database.execute(sql, (snapshot,))
    rows = {row[0]: row[1:] for row in ask(
        "SELECT allocation_id, state, dominator_id, bytes, count FROM retained WHERE snapshot_id = ?")}
    size = dict(ask("SELECT a.id, a.size FROM retained r JOIN allocation a ON a.id = r.allocation_id WHERE snapshot_id = ?"))
    graph = networkx.DiGraph([(OUTSIDE, LOST)])
    for (root,) in ask("SELECT -id FROM root WHERE snapshot_id = ?"):
        graph.add_edge(OUTSIDE, root)
    for block, (state, *_) in rows.items():
        if state == 3:
            graph.add_edge(LOST, block)
    for source, to, doubt in ask("SELECT from_id, to_id, doubt FROM reference WHERE snapshot_id = ?"):
        held = source < 0 or rows[source][0] in (1, 2)
        # A reference in doubt counts only for blocks that no others reach; what nobody reaches keeps nothing alive.
        if (held or rows[to][0] in (3, 4)) and not (rows[to][0] == 1 and doubt):
            graph.add_edge(source, to)
    found = dominators(graph, OUTSIDE)
    below, sums = defaultdict(list), {}
    for node, of in found.items():
        below[of].append(node)
    order = [OUTSIDE]
    for node in order:
        order.extend(below[node])
    for node in reversed(order):
        sums[node] = [size.get(node, 0) + sum(sums[child][0] for child in below[node]),
                      (node in size) + sum(sums[child][1] for child in below[node])]
    assert all(state for state, *_ in rows.values()), f"{name}: the snapshot is not whole"
    for block, (state, dominator, count_bytes, count) in rows.items():
        expected = 0 if found[block] in (OUTSIDE, LOST) else found[block]
        assert (dominator, count_bytes, count) == (expected, *sums[block]), (
            f"{name}: block {block}: dominator {dominator}, retains {count_bytes} in {count}; networkx {expected}, {sums[block]}")
    for root, count_bytes, count in ask("SELECT -id, retained_bytes, retained_count FROM root WHERE snapshot_id = ?"):
        assert [count_bytes, count] == sums[root], f"{name}: root {-root}: {count_bytes} in {count}, networkx {sums[root]}"
    print(f"{name}: {len(rows)} blocks have the same dominator and retained size")
    assert len(rows) > 30, name


check_random(sys.argv[1])
for path in sys.argv[2:]:
    connection = sqlite3.connect(path)
    for (number,) in connection.execute("SELECT id FROM heap_snapshot").fetchall():
        check_snapshot(connection, path, number)
