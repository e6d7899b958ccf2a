-- SPDX-License-Identifier: BSD-2-Clause
-- The places of wanted blocks among the rows of process ?1, with arenas as the session numbers them.
SELECT id, address,
  iif(arena = 0, 0, arena + (SELECT i.arena FROM inherit_part i WHERE i.process = ?1)),
  ifnull(begin_ns, 0), ifnull(end_ns, free_ns), depth
FROM wanted WHERE ancestor = ?1 ORDER BY address, ifnull(end_ns, free_ns);
