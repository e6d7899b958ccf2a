-- SPDX-License-Identifier: BSD-2-Clause
-- Keeps only the frees of inherited blocks, and counts the frees of each kind.
DELETE FROM main.inherited_free WHERE id IN (SELECT id FROM other);
UPDATE main.meta SET value = value + ifnull((SELECT n FROM count_of WHERE kind =
    CASE key WHEN 'unmatched_frees' THEN 1 WHEN 'double_frees' THEN 2 ELSE 0 END), 0)
  WHERE key IN ('unmatched_frees', 'double_frees', 'unseen_frees');
INSERT OR REPLACE INTO main.meta SELECT 'inherited_frees', count(*) FROM main.inherited_free;
INSERT OR REPLACE INTO main.meta SELECT 'presumed_inherited_frees', count(*)
  FROM main.inherited_free WHERE allocation_id IS NULL;
UPDATE process SET inherited_frees = 0 WHERE parent_trace_id <> 0;
UPDATE process SET inherited_frees = f.n FROM
  (SELECT process_id, count(*) AS n FROM main.inherited_free GROUP BY process_id) f
  WHERE f.process_id = process.id AND parent_trace_id <> 0;
