-- SPDX-License-Identifier: BSD-2-Clause
SELECT function_id, self_bytes, self_count, at_peak_bytes
FROM function_total WHERE self_count > 0;
