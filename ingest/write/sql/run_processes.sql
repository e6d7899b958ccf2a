-- SPDX-License-Identifier: BSD-2-Clause
SELECT process_id, pid, program, argv, ending, allocations, bytes, peak_bytes, place, parent_id,
  executed_from, ifnull(r.resident, 0)
FROM v_process LEFT JOIN (SELECT process_id AS id, max(bytes) AS resident FROM rss GROUP BY process_id) r
  ON r.id = process_id
ORDER BY process_id;
