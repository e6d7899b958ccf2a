-- SPDX-License-Identifier: BSD-2-Clause
-- Makes the sums of the process in a session of only one process: they are the program's.
UPDATE process SET (allocations, frees, bytes, live_count, live_bytes, peak_bytes, peak_ns) =
  (SELECT max(value) FILTER (WHERE key = 'allocations'),
    max(value) FILTER (WHERE key = 'frees'),
    max(value) FILTER (WHERE key = 'bytes_allocated'),
    max(value) FILTER (WHERE key = 'live_count_end'),
    max(value) FILTER (WHERE key = 'live_bytes_end'),
    max(value) FILTER (WHERE key = 'peak_bytes'),
    max(value) FILTER (WHERE key = 'peak_ns') FROM meta);
