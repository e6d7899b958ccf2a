-- SPDX-License-Identifier: BSD-2-Clause
-- Sets the rows of a stack to ?1 hundredths of the true number.
UPDATE sqlite_stat1 SET stat = s.rows || ' ' || (s.rows * ?1 / 100 / s.stacks + 1) || ' ' ||
    (s.rows / s.stacks + 1)
  FROM (SELECT a.stat AS rows, (SELECT count(*) FROM stack) AS stacks
        FROM sqlite_stat1 a WHERE a.tbl = 'allocation' AND a.idx IS NULL) s
  WHERE idx = 'allocation_stack';
