-- SPDX-License-Identifier: BSD-2-Clause
SELECT a.alloc_ns, a.free_ns, a.size, a.address, a.arena_id, a.id
FROM process p JOIN allocation a ON a.id BETWEEN p.first_allocation_id AND p.last_allocation_id
WHERE p.id = ?1;
