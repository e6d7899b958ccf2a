-- SPDX-License-Identifier: BSD-2-Clause
-- Virtual tables, and tables with computed columns, but not allocation as the schema has it: ?1 is its
-- text before the number from which places count, ?2 the text after it, up to the last computed column.
SELECT name FROM sqlite_schema AS s
WHERE type = 'table'
  AND (rootpage = 0 OR EXISTS (SELECT 1 FROM pragma_table_xinfo(s.name) WHERE hidden <> 0))
  AND NOT (name = 'allocation' AND substr(sql, 1, length(?1)) = ?1
    AND substr(ltrim(substr(sql, length(?1) + 1), '0123456789'), 1, length(?2)) = ?2
    AND (SELECT count(*) FROM pragma_table_xinfo('allocation') WHERE hidden <> 0) = 3);
