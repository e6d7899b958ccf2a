-- SPDX-License-Identifier: BSD-2-Clause
-- The memory that was searched.
SELECT address, size, kind, path FROM resolved r JOIN heap_range h ON h.snapshot_id = r.id
ORDER BY address;
