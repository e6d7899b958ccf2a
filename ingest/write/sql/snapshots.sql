-- SPDX-License-Identifier: BSD-2-Clause
-- The snapshots of references, and whether neither words nor blocks are missing.
SELECT id, partial = 0 AND why IS NULL FROM heap_snapshot ORDER BY id;
