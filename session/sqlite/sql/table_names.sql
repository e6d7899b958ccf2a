-- SPDX-License-Identifier: BSD-2-Clause
-- The tables and views that a statement of the user can read.
SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'
UNION ALL VALUES ('graph'), ('graph_warning');
