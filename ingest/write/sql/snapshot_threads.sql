-- SPDX-License-Identifier: BSD-2-Clause
-- The threads, with their last names.
SELECT h.tid, h.stack_pointer, h.thread_pointer,
  ifnull((SELECT t.name FROM thread t WHERE t.tid = h.tid AND t.process_id = s.process_id
          ORDER BY t.id DESC LIMIT 1), 'thread ' || h.tid)
FROM resolved r JOIN heap_snapshot s ON s.id = r.id JOIN heap_thread h ON h.snapshot_id = r.id
ORDER BY h.tid;
