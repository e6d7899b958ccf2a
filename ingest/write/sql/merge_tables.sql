-- SPDX-License-Identifier: BSD-2-Clause
-- The tables of all processes that go into the session.
SELECT name FROM tables.sqlite_schema
WHERE type = 'table' AND name <> 'kind' AND name NOT GLOB 'sqlite_*';
