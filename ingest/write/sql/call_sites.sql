-- SPDX-License-Identifier: BSD-2-Clause
SELECT ifnull(function_id, 0), ifnull(call_site_frame_id, 0) FROM stack ORDER BY id;
