-- SPDX-License-Identifier: BSD-2-Clause
-- The blocks that had begun when the snapshot was taken, and whether they were live.
SELECT a.address, a.size, a.free_ns IS NULL OR a.free_ns > s.ns, a.id, a.stack_id, a.type_id,
  a.thread_id, a.kind
FROM resolved r JOIN heap_snapshot s ON s.id = r.id JOIN allocation a ON a.alloc_ns <= s.ns
WHERE a.arena_id = 0 AND a.thread_id IN (SELECT id FROM thread WHERE process_id = s.process_id);
