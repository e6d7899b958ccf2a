-- SPDX-License-Identifier: BSD-2-Clause
-- Each frame of each stack, innermost first, with its function, and whether it is the call site.
SELECT s.id, pf.frame_id = s.call_site_frame_id, fr.function_id
FROM stack s
  LEFT JOIN stack_piece sp ON sp.stack_id = s.id
  LEFT JOIN piece_frame pf ON pf.piece_id = sp.piece_id
  LEFT JOIN frame fr ON fr.id = pf.frame_id
ORDER BY s.id, sp.depth, pf.position;
