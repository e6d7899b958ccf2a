-- SPDX-License-Identifier: BSD-2-Clause
-- The tables that a part gets whole: neither mprof-ingest --rebuild nor part_file.c makes them.
SELECT name FROM sqlite_schema
WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT IN
  ('allocation', 'original_allocation', 'earlier_block', 'inherited_free', 'column_chunk',
   'packed_array', 'sample_chunk', 'timeline', 'function_total', 'call_node', 'type_total',
   'size_bin', 'stack_type', 'size_type', 'slot_sum', 'tile', 'estimate');
