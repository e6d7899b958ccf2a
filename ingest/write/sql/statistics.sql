-- SPDX-License-Identifier: BSD-2-Clause
-- The true numbers, which are known without a scan.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 SELECT 'stack', 'stack_function', count(*) || ' 2' FROM stack;
INSERT INTO sqlite_stat1 SELECT 'function', 'function_name', count(*) || ' 1' FROM function;
INSERT INTO sqlite_stat1 SELECT 'call_node', 'call_node_parent', count(*) || ' 2' FROM call_node;
INSERT INTO sqlite_stat1 SELECT 'type', 'type_name', (count(*) + 1) || ' 1' FROM type;
-- max(id) with a condition would be a scan.
INSERT INTO sqlite_stat1 SELECT 'allocation', NULL, n
  FROM (SELECT id AS n FROM allocation ORDER BY id DESC LIMIT 1);
INSERT INTO sqlite_stat1 SELECT 'allocation', 'allocation_stack',
    stat || ' ' || (stat / s.n + 1) || ' ' || (stat / s.n + 1)
  FROM sqlite_stat1, (SELECT count(*) AS n FROM stack) s
  WHERE tbl = 'allocation' AND idx IS NULL
  AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'allocation_stack');
