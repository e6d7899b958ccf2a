-- SPDX-License-Identifier: BSD-2-Clause
SELECT id, parent_id, name, allocations, objects, bytes, live_count, live_bytes, peak_bytes, peak_ns
FROM arena WHERE id > 0 ORDER BY id;
