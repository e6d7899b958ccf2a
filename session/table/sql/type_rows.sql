-- SPDX-License-Identifier: BSD-2-Clause
SELECT type_id, allocations, bytes, live_count, live_bytes, at_peak_count, at_peak_bytes,
  peak_bytes
FROM type_total WHERE allocations > 0;
