-- SPDX-License-Identifier: BSD-2-Clause
SELECT function_id, self_bytes, self_count, total_bytes, total_count, live_bytes, live_count,
  at_peak_bytes, short_lived
FROM function_total WHERE total_count > 0;
