-- SPDX-License-Identifier: BSD-2-Clause
-- The words.
SELECT data FROM resolved r JOIN heap_words h ON h.snapshot_id = r.id ORDER BY position;
