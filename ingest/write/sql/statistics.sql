-- SPDX-License-Identifier: BSD-2-Clause
-- The statistics of a session for SQLite's planner, instead of ANALYZE, which reads all of it.
-- Without them the planner presumes that all tables have the same size. The numbers of rows are
-- known without a scan.
--
-- One number is not the true one: how many rows of `allocation` a stack has. The planner presumes
-- that rows cost the same in any order, but rows that it finds by an index lie all over the file. A
-- pass over the table reads them one after another and takes a seventh to a thirtieth of the time
-- (3 to 10 M rows). The planner does not know either which share of the rows a condition selects.
-- With the true number it answers a condition on sizes or times, which have no index, stack by
-- stack. 64 times the number makes it read the table for these. It still uses the index for a
-- function, a stack, and a condition in unlikely(), in joins that name the stacks first. From about
-- 24 to 100 times, the plans are the same for sessions of any size.
ANALYZE sqlite_schema;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 SELECT 'stack', 'stack_function', count(*) || ' 2' FROM stack;
INSERT INTO sqlite_stat1 SELECT 'function', 'function_name', count(*) || ' 1' FROM function;
INSERT INTO sqlite_stat1 SELECT 'call_node', 'call_node_parent', count(*) || ' 2' FROM call_node;
INSERT INTO sqlite_stat1 SELECT 'type', 'type_name', (count(*) + 1) || ' 1' FROM type;
-- Let the planner test the pieces of all stacks against a filter of those that have a frame.
INSERT INTO sqlite_stat1 SELECT 'stack_node', NULL, count(*) FROM stack_node;
INSERT INTO sqlite_stat1 SELECT 'stack_run', 'stack_run', count(*) || ' 4 1' FROM stack_run;
-- Let the planner find a block without naming its snapshot.
INSERT INTO sqlite_stat1 SELECT 'retained', 'retained', n || ' ' || (n / snapshots) || ' 1'
  FROM (SELECT sum(own_count) AS n, count(DISTINCT snapshot_id) AS snapshots FROM retained_group
        WHERE kind = 'state') WHERE n > 0;
-- max(id) with a condition would be a scan.
INSERT INTO sqlite_stat1 SELECT 'allocation', NULL, n
  FROM (SELECT id AS n FROM allocation ORDER BY id DESC LIMIT 1);
INSERT INTO sqlite_stat1 SELECT 'allocation', 'allocation_stack',
    stat || ' ' || (stat * 64 / s.n + 1) || ' ' || (stat / s.n + 1)
  FROM sqlite_stat1, (SELECT count(*) AS n FROM stack) s
  WHERE tbl = 'allocation' AND idx IS NULL
  AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'allocation_stack');
