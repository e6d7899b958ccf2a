-- SPDX-License-Identifier: BSD-2-Clause
-- A block, as `asked` has it, which the caller puts before this.
SELECT r.allocation_id, (SELECT name FROM type WHERE id = a.type_id),
  (SELECT n.name FROM stack st JOIN frame fr ON fr.id = st.user_frame_id
    JOIN function n ON n.id = fr.function_id WHERE st.id = a.stack_id),
  a.size, 1, r.bytes, r.count
FROM asked q JOIN retained r ON r.snapshot_id = q.snapshot_id AND r.allocation_id = q.block
JOIN allocation a ON a.id = r.allocation_id;
