-- SPDX-License-Identifier: BSD-2-Clause
-- Lists the frees whose blocks are wanted, and the ancestors that may have allocated each.

-- line: the ancestors of each forked process, the nearest with depth 1, and the time when the one
-- at the depth before was forked from it. The process itself has depth 0. Processes are in the
-- order of their start, so none is forked from a later one, even if a damaged trace says so.
UPDATE process SET forked_from = (SELECT min(p.id) FROM process p
    WHERE p.trace_id = process.parent_trace_id AND p.id < process.id
    AND p.machine = process.machine)
  WHERE parent_trace_id <> 0;
UPDATE process SET forked_ns = NULL, forked_until_ns = NULL WHERE forked_from IS NULL;
CREATE TEMP TABLE line(process INTEGER, depth INTEGER, ancestor INTEGER, begin_ns INTEGER,
  end_ns INTEGER, PRIMARY KEY(process, depth)) WITHOUT ROWID;
INSERT INTO line WITH RECURSIVE l(process, depth, ancestor, begin_ns, end_ns) AS (
    SELECT id, 1, forked_from, forked_ns, forked_until_ns FROM process
      WHERE forked_from IS NOT NULL
    UNION ALL SELECT l.process, l.depth + 1, p.forked_from, p.forked_ns, p.forked_until_ns
      FROM l JOIN process p ON p.id = l.ancestor WHERE p.forked_from IS NOT NULL)
  SELECT * FROM l;
INSERT INTO line SELECT id, 0, id, NULL, NULL FROM process WHERE parent_trace_id <> 0;
CREATE INDEX temp.line_ancestor ON line(ancestor);

-- freed: the frees, with arenas as the trace numbers them.
CREATE TEMP TABLE freed AS SELECT f.id, f.process_id AS process, f.address, f.free_ns,
    iif(f.arena_id = 0, 0, f.arena_id - p.arena) AS arena
  FROM main.inherited_free f JOIN inherit_part p ON p.process = f.process_id;
CREATE INDEX temp.freed_place ON freed(process, address);
CREATE INDEX temp.freed_id ON freed(id);

-- wanted: the places where the block of each free may be.
CREATE TEMP TABLE wanted AS SELECT l.ancestor, f.address, f.arena, f.id, f.free_ns, l.depth,
    l.begin_ns, l.end_ns FROM freed f JOIN line l ON l.process = f.process;
CREATE INDEX temp.wanted_place ON wanted(ancestor, address, end_ns);

-- found: the blocks that are there. own_live: what was live in the parent at the fork of a process.
CREATE TEMP TABLE found(id INTEGER, depth INTEGER, allocation INTEGER, alloc_ns INTEGER);
CREATE TEMP TABLE own_live(process INTEGER PRIMARY KEY, count INTEGER, bytes INTEGER);
