-- SPDX-License-Identifier: BSD-2-Clause
SELECT id, function_id, (SELECT max(id) FROM function) FROM stack ORDER BY id;
