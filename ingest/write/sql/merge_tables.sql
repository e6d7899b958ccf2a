-- SPDX-License-Identifier: BSD-2-Clause
-- The tables of all processes that go into the session. Their rows of allocation are there already.
SELECT name FROM tables.sqlite_schema
WHERE type = 'table' AND name NOT IN ('kind', 'allocation') AND name NOT GLOB 'sqlite_*';
