-- SPDX-License-Identifier: BSD-2-Clause
UPDATE stack SET allocations = ?2, bytes = ?3, live_count = ?4, live_bytes = ?5,
  at_peak_count = ?6, at_peak_bytes = ?7, peak_bytes = ?8, peak_ns = ?9, lifetime_ns = ?10
WHERE id = ?1;
