-- SPDX-License-Identifier: BSD-2-Clause
-- The blocks that a collection before a rotated trace had left.
SELECT e.allocation_id
FROM earlier_block e CROSS JOIN allocation a ON a.id = e.allocation_id
  JOIN arena x ON x.id = a.arena_id
WHERE a.free_ns IS NULL AND a.alloc_ns > x.kept_ns AND a.alloc_ns - e.before_ns <= x.kept_ns
ORDER BY 1;
