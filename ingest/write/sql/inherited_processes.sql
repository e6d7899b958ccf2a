-- SPDX-License-Identifier: BSD-2-Clause
-- The processes in order, whether each names a parent, and whether its recording was paused.
SELECT ifnull(p.forked_from, 0), p.parent_trace_id <> 0, ifnull(p.first_allocation_id, 0),
  ifnull(p.last_allocation_id, 0), p.forked_ns, p.forked_until_ns, m.process_id IS NOT NULL
FROM process p LEFT JOIN (SELECT DISTINCT process_id FROM mark WHERE kind IN ('pause', 'resume')) m
  ON m.process_id = p.id
ORDER BY p.id;
