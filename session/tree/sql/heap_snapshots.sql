-- SPDX-License-Identifier: BSD-2-Clause
-- The snapshots of references, of the selected process or of all.
SELECT h.id, h.process_id, h.ns, h.reason, h.name, h.why, h.partial, h.stopped_ns, h.words, h.threads,
  ifnull(sum(s.own_bytes) FILTER (WHERE s.key = 1), 0),
  ifnull(sum(s.own_count) FILTER (WHERE s.key = 1), 0),
  ifnull(sum(s.own_bytes) FILTER (WHERE s.key = 2), 0),
  ifnull(sum(s.own_count) FILTER (WHERE s.key = 2), 0),
  ifnull(sum(s.own_bytes) FILTER (WHERE s.key = 3), 0),
  ifnull(sum(s.own_count) FILTER (WHERE s.key = 3), 0),
  ifnull(sum(s.own_bytes) FILTER (WHERE s.key = 4), 0),
  ifnull(sum(s.own_count) FILTER (WHERE s.key = 4), 0),
  ifnull(sum(s.own_bytes) FILTER (WHERE s.key = 0), 0),
  ifnull(sum(s.own_count) FILTER (WHERE s.key = 0), 0)
FROM heap_snapshot h LEFT JOIN retained_group s ON s.snapshot_id = h.id AND s.kind = 'state'
WHERE ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'selected_process'), 0)
  IN (0, h.process_id)
GROUP BY h.id ORDER BY h.ns, h.id;
