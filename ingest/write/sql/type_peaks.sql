-- SPDX-License-Identifier: BSD-2-Clause
-- Finds the largest live bytes of types that replay could not tell: the program named blocks of them
-- late (type_usage.h). In one nanosecond frees come first, then allocations, then the frees of these.
UPDATE type_total SET peak_bytes = (
  SELECT max(live) FROM (
    SELECT sum(bytes) OVER (ORDER BY ns, turn ROWS UNBOUNDED PRECEDING) AS live FROM (
      SELECT alloc_ns AS ns, 1 AS turn, size AS bytes FROM allocation a
        WHERE a.type_id = type_total.type_id AND arena_id = 0
      UNION ALL SELECT free_ns, CASE WHEN free_ns = alloc_ns THEN 2 ELSE 0 END, -size
        FROM allocation a
        WHERE a.type_id = type_total.type_id AND arena_id = 0 AND free_ns IS NOT NULL)))
WHERE peak_bytes IS NULL;
