-- SPDX-License-Identifier: BSD-2-Clause
-- The rows as columns: the id, then the values in the order of read_row() of derived.c.
SELECT id, address, size, alloc_ns, free_ns - alloc_ns + 1, stack_id, thread_id, free_thread_id,
  kind, type_id, arena_id, count, alignment, realloc_of, free_stack_id
FROM allocation ORDER BY id;
