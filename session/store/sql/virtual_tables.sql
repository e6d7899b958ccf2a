-- SPDX-License-Identifier: BSD-2-Clause
-- Virtual tables, and tables with computed columns.
SELECT name FROM sqlite_schema AS s
WHERE type = 'table'
  AND (rootpage = 0 OR EXISTS (SELECT 1 FROM pragma_table_xinfo(s.name) WHERE hidden <> 0));
