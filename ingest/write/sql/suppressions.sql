-- SPDX-License-Identifier: BSD-2-Clause
SELECT pattern, live_count, live_bytes FROM v_suppression ORDER BY live_bytes DESC, pattern;
