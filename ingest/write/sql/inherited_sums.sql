-- SPDX-License-Identifier: BSD-2-Clause
-- Sums up the blocks that process ?1 inherited: the parent's own live blocks at the fork, and those
-- that the parent had inherited and not freed by then. A block that was allocated in the middle of
-- the parent's own fork is none of these. Run it for parents before their children.
UPDATE process SET (inherited_count, inherited_bytes) =
  (SELECT o.count + iif(p.parent_trace_id = 0, 0, p.inherited_count - count(a.id)),
    o.bytes + iif(p.parent_trace_id = 0, 0, p.inherited_bytes - ifnull(sum(a.size), 0))
   FROM own_live o JOIN process p ON p.id = process.forked_from
   LEFT JOIN freed g ON g.process = p.id AND g.arena = 0 AND g.free_ns <= process.forked_ns
   LEFT JOIN main.inherited_free f ON f.id = g.id
   LEFT JOIN allocation a ON a.id = f.allocation_id AND EXISTS (SELECT 1 FROM line l
       JOIN process q ON q.id = l.ancestor WHERE l.process = p.id AND l.depth > 0
         AND a.id BETWEEN q.first_allocation_id AND q.last_allocation_id
         AND a.alloc_ns <= l.begin_ns AND (a.free_ns IS NULL OR a.free_ns > l.begin_ns))
   WHERE o.process = ?1) WHERE id = ?1;
