-- SPDX-License-Identifier: BSD-2-Clause
INSERT INTO allocation(id, whole_address, size, stack_id, alloc_ns, lived_ns, freed_by_id, thread_id,
  type_id, kind, count, realloc_of, free_stack_id, arena_id, alignment)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?);
