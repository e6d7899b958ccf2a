-- SPDX-License-Identifier: BSD-2-Clause
-- Sums up the blocks that process ?1 inherited: the parent's own live blocks at the fork, and those
-- that the parent had inherited and not freed by then. Run it for parents before their children.
UPDATE process SET (inherited_count, inherited_bytes) =
  (SELECT o.count + iif(p.parent_trace_id = 0, 0, p.inherited_count - count(a.id)),
    o.bytes + iif(p.parent_trace_id = 0, 0, p.inherited_bytes - ifnull(sum(a.size), 0))
   FROM own_live o JOIN process p ON p.id = process.forked_from
   LEFT JOIN main.inherited_free f ON f.process_id = p.id AND f.arena_id = 0
     AND f.free_ns <= process.forked_ns
   LEFT JOIN allocation a ON a.id = f.allocation_id WHERE o.process = ?1) WHERE id = ?1;
