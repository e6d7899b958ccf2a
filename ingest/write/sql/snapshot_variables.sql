-- SPDX-License-Identifier: BSD-2-Clause
-- The variables in which words lie.
SELECT address, size, name, ifnull(tid, 0) FROM resolved r JOIN heap_variable h ON h.snapshot_id = r.id
ORDER BY address;
