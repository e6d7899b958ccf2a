-- SPDX-License-Identifier: BSD-2-Clause
-- The registers that hold addresses.
SELECT tid, number, value FROM resolved r JOIN heap_register h ON h.snapshot_id = r.id
ORDER BY tid, position;
