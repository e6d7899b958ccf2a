-- SPDX-License-Identifier: BSD-2-Clause
-- The functions and owners of stacks.
SELECT s.id, ifnull(s.function_id, 0), ifnull(f.function_id, 0), ifnull(s.owner_id, 0)
FROM stack s LEFT JOIN frame f ON f.id = s.user_frame_id ORDER BY s.id;
