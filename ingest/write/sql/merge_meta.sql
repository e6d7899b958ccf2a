-- SPDX-License-Identifier: BSD-2-Clause
-- Merges `meta`: adds counts, takes the last of times, adds labels, and keeps the rest of the first process.
UPDATE main.meta SET value = value + (SELECT p.value FROM part.meta p WHERE p.key = meta.key)
  WHERE key IN ('reallocs', 'rows', 'failed_allocations', 'typed_allocations', 'typed_bytes',
    'threads', 'stacks', 'arenas', 'arena_allocations', 'arena_bytes', 'arena_live_count_end',
    'arena_live_bytes_end', 'dropped_events', 'unmatched_frees', 'double_frees', 'unseen_frees',
    'mismatched_frees', 'overlaps', 'ambiguous_pairs', 'damaged_bytes', 'missing_chunks',
    'orphaned_stacks', 'unknown_records', 'trace_bytes', 'lost_suppressions', 'wrong_sizes')
  AND key IN (SELECT key FROM part.meta);
UPDATE main.meta SET value = max(value, (SELECT p.value FROM part.meta p WHERE p.key = meta.key))
  WHERE key = 'suppressions' AND key IN (SELECT key FROM part.meta);
INSERT OR IGNORE INTO main.meta SELECT key, value FROM part.meta WHERE key GLOB 'label.*';
INSERT INTO main.meta
  SELECT key, value FROM part.meta WHERE key IN ('earlier_blocks', 'earlier_bytes')
  ON CONFLICT(key) DO UPDATE SET value = value + excluded.value;
INSERT INTO main.meta
  SELECT key, value FROM part.meta WHERE key IN ('late_modules', 'unseen_modules', 'unrecorded_programs')
  ON CONFLICT(key) DO UPDATE SET value = value || char(10) || excluded.value
  WHERE instr(char(10) || value || char(10), char(10) || excluded.value || char(10)) = 0;
UPDATE main.meta SET value = max(value,
    (SELECT p.value + base.later FROM part.meta p, base WHERE p.key = 'duration_ns'))
  WHERE key = 'duration_ns';
