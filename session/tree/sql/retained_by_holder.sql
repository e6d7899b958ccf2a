-- SPDX-License-Identifier: BSD-2-Clause
-- The blocks of the snapshot that is asked for, by type and by what holds them: the member in the
-- next one on a shortest path to a root, or else its name.
SELECT 0, type, holder, sum(size), count(*), sum(size), count(*) FROM
  (SELECT ifnull((SELECT name FROM type WHERE id = a.type_id), '(unknown type)') AS type,
     a.size AS size,
     coalesce((SELECT name FROM reference_member WHERE id = r.member_id),
       o.name || ' (' || o.kind || ')', (SELECT name FROM type WHERE id = h.type_id),
       CASE WHEN r.holder_id <> 0 THEN '(unknown type)' WHEN r.state = 0 THEN '(unknown)'
         ELSE '(unreachable)' END) AS holder
   FROM asked q JOIN retained r ON r.snapshot_id = q.snapshot_id
   JOIN allocation a ON a.id = r.allocation_id
   LEFT JOIN root o ON o.id = -r.holder_id LEFT JOIN allocation h ON h.id = r.holder_id)
GROUP BY 2, 3 ORDER BY 4 DESC, 2, 3;
