-- SPDX-License-Identifier: BSD-2-Clause
-- The last condition is an error in a session of an earlier version, which lacks these columns.
SELECT (SELECT value FROM meta WHERE key = 'allocations')
    = (SELECT sum(allocations) FROM type_total)
  AND (SELECT sum(allocations) FROM type_total) = (SELECT sum(self_count) FROM function_total)
  AND NOT EXISTS (SELECT f.short_lived, t.at_peak_bytes, s.at_peak_count
    FROM function_total f, type_total t, size_bin s WHERE 0);
