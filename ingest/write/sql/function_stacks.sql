-- SPDX-License-Identifier: BSD-2-Clause
-- The frames on each stack.
SELECT p.stack_id, f.frame_id
FROM stack_piece p JOIN piece_frame f ON f.piece_id = p.piece_id
ORDER BY p.stack_id;
