-- SPDX-License-Identifier: BSD-2-Clause
-- The columns of all tables, without blobs and the tables that SQLite keeps for itself, and without the
-- numbers from which allocation computes columns.
SELECT m.name, p.name, p.type, p."notnull" OR p.pk > 0, p.pk > 0
FROM sqlite_schema m, pragma_table_xinfo(m.name) p
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'
  AND m.name NOT IN (SELECT t.name FROM sqlite_schema t, pragma_table_info(t.name) c
    WHERE c.type = 'BLOB')
  AND m.name NOT IN ('bundle', 'tile', 'sqlar') AND (m.name <> 'allocation'
    OR p.name NOT IN ('address_code', 'lived_ns', 'freed_by_id', 'whole_address'))
ORDER BY m.name, p.cid;
