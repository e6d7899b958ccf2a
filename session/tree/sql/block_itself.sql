-- SPDX-License-Identifier: BSD-2-Clause
-- A block of a snapshot, of which the caller puts in the numbers.
SELECT r.allocation_id, (SELECT name FROM type WHERE id = a.type_id),
  (SELECT n.name FROM stack st JOIN frame fr ON fr.id = st.user_frame_id
    JOIN function n ON n.id = fr.function_id WHERE st.id = a.stack_id),
  a.size, 1, r.bytes, r.count
FROM retained r JOIN allocation a ON a.id = r.allocation_id
WHERE r.snapshot_id = %lld AND r.allocation_id = %lld;
