-- SPDX-License-Identifier: BSD-2-Clause
UPDATE process SET allocations = ?2, frees = ?3, bytes = ?4, live_count = ?5, live_bytes = ?6,
  peak_bytes = ?7, peak_ns = ?8
WHERE id = ?1;
