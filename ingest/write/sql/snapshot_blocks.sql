-- SPDX-License-Identifier: BSD-2-Clause
-- The blocks that had begun when the snapshot was taken, and whether they were live. One pass over
-- the allocations: in another order, or by their arena, SQLite would make an index of them first.
SELECT a.address, a.size, a.free_ns IS NULL OR a.free_ns > s.ns, a.id, a.stack_id, a.type_id,
  a.thread_id, a.kind
FROM resolved r CROSS JOIN heap_snapshot s ON s.id = r.id CROSS JOIN allocation a
  CROSS JOIN thread t ON t.id = a.thread_id
WHERE a.alloc_ns <= s.ns AND +a.arena_id = 0 AND +t.process_id = s.process_id;
