-- SPDX-License-Identifier: BSD-2-Clause
SELECT process_id, pid, program, argv, ending, allocations, bytes, peak_bytes, place, parent_id,
  executed_from
FROM v_process ORDER BY process_id;
