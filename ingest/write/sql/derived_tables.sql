-- SPDX-License-Identifier: BSD-2-Clause
-- The number of the tables that a rebuild needs: 16 in a session of this version.
SELECT count(*) FROM sqlite_schema
WHERE type = 'table' AND rootpage > 0 AND name IN (
  'allocation', 'arena', 'call_node', 'frame', 'function', 'meta', 'module', 'packed_array',
  'process', 'sample_chunk', 'slot_sum', 'stack', 'stack_type', 'thread', 'tile', 'type');
