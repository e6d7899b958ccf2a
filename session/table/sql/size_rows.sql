-- SPDX-License-Identifier: BSD-2-Clause
SELECT size, allocations, live_count, at_peak_count
FROM size_bin WHERE allocations > 0 ORDER BY size;
