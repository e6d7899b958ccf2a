-- SPDX-License-Identifier: BSD-2-Clause
-- The columns of the view v_allocation, in its order.
CREATE TABLE v_allocation(
  id INTEGER, address INTEGER, size INTEGER, count INTEGER, kind TEXT, alignment INTEGER,
  arena_id INTEGER, thread_id INTEGER, stack_id INTEGER, type_id INTEGER, alloc_ns INTEGER,
  free_ns INTEGER, free_thread_id INTEGER, free_stack_id INTEGER, realloc_of INTEGER,
  function TEXT, file TEXT, line INTEGER, module TEXT, type TEXT, confidence, thread TEXT,
  lifetime_ns, extra_bytes, process_id INTEGER, pid INTEGER, process TEXT, owner TEXT, user TEXT,
  freed_by, kept);
