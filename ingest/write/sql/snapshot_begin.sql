-- SPDX-License-Identifier: BSD-2-Clause
-- The snapshot of references that is resolved.
CREATE TEMP TABLE IF NOT EXISTS resolved(id INTEGER);
DELETE FROM resolved;
