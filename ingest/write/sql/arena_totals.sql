-- SPDX-License-Identifier: BSD-2-Clause
-- Makes the sums of arenas from the rows, with the peak of each.
UPDATE arena SET allocations = 0, objects = 0, bytes = 0, live_count = 0, live_bytes = 0,
  peak_bytes = 0, peak_ns = 0;
UPDATE arena SET allocations = s.allocations, objects = s.objects, bytes = s.bytes,
  live_count = s.live_count, live_bytes = s.live_bytes FROM
  (SELECT arena_id, count(*) AS allocations, sum(count) AS objects, sum(size) AS bytes,
    sum(free_ns IS NULL) AS live_count,
    sum(CASE WHEN free_ns IS NULL THEN size ELSE 0 END) AS live_bytes
    FROM allocation WHERE arena_id > 0 GROUP BY arena_id) AS s WHERE s.arena_id = arena.id;

-- The peak is the largest sum over an arena's events in the order of time. In one nanosecond frees
-- come first, then allocations, then the frees of these (derived.h). The first of equal peaks
-- counts.
UPDATE arena SET peak_bytes = p.live, peak_ns = p.ns FROM
  (SELECT part, max(live) AS live, ns FROM
    (SELECT part, live, min(ns) AS ns FROM
      (SELECT part, ns, sum(bytes) OVER (PARTITION BY part ORDER BY ns, turn
        ROWS UNBOUNDED PRECEDING) AS live FROM
        (SELECT arena_id AS part, alloc_ns AS ns, 1 AS turn, size AS bytes FROM allocation
          WHERE arena_id > 0
         UNION ALL SELECT arena_id, free_ns, CASE WHEN free_ns = alloc_ns THEN 2 ELSE 0 END,
          -size FROM allocation WHERE arena_id > 0 AND free_ns IS NOT NULL))
      GROUP BY part, live ORDER BY part, live DESC) GROUP BY part) AS p
  WHERE p.part = arena.id AND p.live > 0;
