-- SPDX-License-Identifier: BSD-2-Clause
SELECT id, allocations, bytes, live_count, live_bytes, at_peak_count, at_peak_bytes
FROM stack WHERE allocations > 0 ORDER BY id;
