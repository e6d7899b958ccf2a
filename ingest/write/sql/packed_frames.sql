-- SPDX-License-Identifier: BSD-2-Clause
-- The columns of the array of frames (schemas/columns.md).
SELECT id, pc, function_id, module_id, source_file_id, line, inlined + 2 * bare FROM frame;
