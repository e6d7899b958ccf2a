-- SPDX-License-Identifier: BSD-2-Clause
-- The ids of each process's allocations.
SELECT ifnull(first_allocation_id, 0), ifnull(last_allocation_id, 0) FROM process ORDER BY id;
