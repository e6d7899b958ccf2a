-- SPDX-License-Identifier: BSD-2-Clause
-- The commonest mismatch of a function that allocates and one that frees.
SELECT k.name, x.function, f.name, sum(x.allocations)
FROM mismatch x LEFT JOIN kind k ON k.id = x.kind
  LEFT JOIN stack st ON st.id = x.stack_id LEFT JOIN function f ON f.id = st.function_id
GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 1;
