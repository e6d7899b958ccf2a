-- SPDX-License-Identifier: BSD-2-Clause
-- The columns of allocations have the names that they have in v_allocation. The last column is
-- hidden: the text of the graph.
CREATE TABLE graph(
  result TEXT, row INTEGER, warning TEXT,
  key TEXT, key1, key2, key3, key4,
  allocations INTEGER, bytes INTEGER, objects INTEGER, live_bytes INTEGER, live_count INTEGER,
  at_peak_bytes INTEGER, peak_bytes INTEGER, avg_size INTEGER, avg_lifetime INTEGER,
  min_size INTEGER, max_size INTEGER, min_lifetime INTEGER, max_lifetime INTEGER,
  first_time INTEGER, last_time INTEGER, born_over INTEGER, died_over INTEGER, rises INTEGER,
  climb INTEGER, replaced INTEGER, turnover INTEGER, wasted INTEGER, share INTEGER, color INTEGER,
  name TEXT, value INTEGER, unit TEXT, estimated INTEGER, standard_error REAL, parts TEXT,
  id INTEGER, address INTEGER, size INTEGER, count INTEGER, kind TEXT, alignment INTEGER,
  arena_id INTEGER, thread_id INTEGER, stack_id INTEGER, type_id INTEGER, alloc_ns INTEGER,
  free_ns INTEGER, free_thread_id INTEGER, free_stack_id INTEGER, realloc_of INTEGER,
  lifetime_ns INTEGER, function TEXT, file TEXT, line INTEGER, module TEXT, type TEXT,
  confidence TEXT, thread TEXT, process_id INTEGER,
  graph TEXT HIDDEN);
