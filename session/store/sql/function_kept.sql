-- SPDX-License-Identifier: BSD-2-Clause
-- The live blocks that the language's runtime keeps, by function.
SELECT ifnull(s.function_id, 0), sum(s.live_bytes), sum(s.live_count)
FROM runtime_stack r CROSS JOIN stack s ON s.id = r.stack_id
GROUP BY 1;
