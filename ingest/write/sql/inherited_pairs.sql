-- SPDX-License-Identifier: BSD-2-Clause
-- Chooses the block of each free among those that were found.

-- A block that a process in between freed before it forked was not inherited.
CREATE INDEX temp.found_id ON found(id, depth, alloc_ns);
DELETE FROM found WHERE depth > 1 AND EXISTS (SELECT 1 FROM freed f
    JOIN line l ON l.process = f.process AND l.depth BETWEEN 1 AND found.depth - 1
    JOIN freed g ON g.process = l.ancestor AND g.address = f.address AND g.arena = f.arena
    WHERE f.id = found.id AND g.free_ns < l.begin_ns);

-- The block is that of the nearest ancestor, or the first of two at one address during a fork.
UPDATE main.inherited_free SET allocation_id = (SELECT allocation FROM found
    WHERE found.id = inherited_free.id ORDER BY depth, alloc_ns LIMIT 1)
  WHERE id IN (SELECT id FROM found)
    AND id NOT IN (SELECT id FROM found WHERE depth = 0);

-- other: the frees of no inherited block. kind 2: freed before, 1: in no process, 0: perhaps not
-- seen.
CREATE TEMP TABLE other AS SELECT id, 2 AS kind FROM found WHERE depth = 0 GROUP BY id;
INSERT INTO other SELECT id, 2 FROM (SELECT id, allocation_id, row_number() OVER
      (PARTITION BY process_id, allocation_id ORDER BY free_ns, id) AS turn
    FROM main.inherited_free WHERE allocation_id IS NOT NULL) WHERE turn > 1;
CREATE TEMP TABLE known AS SELECT l.process, max(ifnull(i.rested, 0)) AS rested FROM line l
    LEFT JOIN inherit_part i ON i.process = l.ancestor GROUP BY l.process
    HAVING max(l.depth) > 0 AND NOT EXISTS (SELECT 1 FROM line m JOIN process p
      ON p.id = m.ancestor WHERE m.process = l.process AND p.parent_trace_id <> 0
      AND p.forked_from IS NULL);
INSERT INTO other SELECT f.id, iif(k.rested, 0, 1) FROM main.inherited_free f
    JOIN known k ON k.process = f.process_id
  WHERE f.allocation_id IS NULL AND f.id NOT IN (SELECT id FROM other);
CREATE TEMP TABLE count_of AS SELECT kind, count(*) AS n FROM other GROUP BY kind;
