-- SPDX-License-Identifier: BSD-2-Clause
INSERT INTO allocation(id, address, size, stack_id, alloc_ns, free_ns, free_thread_id, thread_id,
  type_id, kind, count, realloc_of, free_stack_id, arena_id, alignment)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?);
