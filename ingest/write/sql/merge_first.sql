-- SPDX-License-Identifier: BSD-2-Clause
-- Notes the highest ids before a session is added. The session's own ids continue from these.
DELETE FROM first;
INSERT INTO first
  SELECT 'process', ifnull(max(id), 0) FROM main.process
  UNION ALL SELECT 'module', ifnull(max(id), 0) FROM main.module
  UNION ALL SELECT 'frame', ifnull(max(id), 0) FROM main.frame
  UNION ALL SELECT 'stack', ifnull(max(id), 0) FROM main.stack
  UNION ALL SELECT 'thread', ifnull(max(id), 0) FROM main.thread
  UNION ALL SELECT 'arena', ifnull(max(id), 0) FROM main.arena
  UNION ALL SELECT 'collection', ifnull(max(id), 0) FROM main.collection
  UNION ALL SELECT 'mark', ifnull(max(id), 0) FROM main.mark
  UNION ALL SELECT 'residency', ifnull(max(id), 0) FROM main.residency
  UNION ALL SELECT 'snapshot', ifnull(max(id), 0) FROM main.heap_snapshot
  UNION ALL SELECT 'region', ifnull(max(id), 0) FROM main.region
  UNION ALL SELECT 'mapping', ifnull(max(mapping), 0) FROM main.region
  UNION ALL SELECT 'problem', ifnull(max(id), 0) FROM main.problem;

-- The same as one row. 'later' is how many nanoseconds after the first process the session began,
-- 'node' how many nodes of stacks the sessions before it have.
CREATE TEMP VIEW IF NOT EXISTS base AS SELECT
  max(id) FILTER (WHERE what = 'process') AS process,
  max(id) FILTER (WHERE what = 'module') AS module,
  max(id) FILTER (WHERE what = 'frame') AS frame,
  max(id) FILTER (WHERE what = 'stack') AS stack,
  max(id) FILTER (WHERE what = 'thread') AS thread,
  max(id) FILTER (WHERE what = 'arena') AS arena,
  max(id) FILTER (WHERE what = 'collection') AS collection,
  max(id) FILTER (WHERE what = 'mark') AS mark,
  max(id) FILTER (WHERE what = 'residency') AS residency,
  max(id) FILTER (WHERE what = 'snapshot') AS snapshot,
  max(id) FILTER (WHERE what = 'region') AS region,
  max(id) FILTER (WHERE what = 'mapping') AS mapping,
  max(id) FILTER (WHERE what = 'problem') AS problem,
  max(id) FILTER (WHERE what = 'node') AS node,
  max(id) FILTER (WHERE what = 'later') AS later FROM first;
