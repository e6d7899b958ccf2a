-- SPDX-License-Identifier: BSD-2-Clause
UPDATE stack SET at_peak_count = ?2, at_peak_bytes = ?3 WHERE id = ?1;
