-- SPDX-License-Identifier: BSD-2-Clause
SELECT f.id, f.name, f.linkage_name, f.role, f.module_id, m.path, s.path
FROM function f LEFT JOIN module m ON m.id = f.module_id LEFT JOIN source_file s ON s.id = f.source_file_id;
