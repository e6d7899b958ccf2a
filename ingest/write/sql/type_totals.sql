-- SPDX-License-Identifier: BSD-2-Clause
INSERT INTO type_total
  SELECT type_id, count(*), sum(size), sum(free_ns IS NULL),
    sum(CASE WHEN free_ns IS NULL THEN size ELSE 0 END)
  FROM allocation WHERE arena_id = 0 GROUP BY type_id;
