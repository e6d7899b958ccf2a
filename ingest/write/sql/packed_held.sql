-- SPDX-License-Identifier: BSD-2-Clause
-- The stacks that held memory at the peak or at the end (schemas/columns.md).
SELECT id, live_count, live_bytes, at_peak_count, at_peak_bytes
FROM stack WHERE live_count > 0 OR at_peak_count > 0 ORDER BY id;
