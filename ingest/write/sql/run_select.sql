-- SPDX-License-Identifier: BSD-2-Clause
-- Fills the keys of `meta` that are about one process: the selected one.
UPDATE meta SET value = (SELECT CASE meta.key WHEN 'executable' THEN executable
    WHEN 'program' THEN program WHEN 'argv' THEN argv WHEN 'pid' THEN pid
    WHEN 'parent_pid' THEN parent_pid ELSE ending END FROM process
    WHERE id = max(1, (SELECT value FROM meta WHERE key = 'selected_process')))
  WHERE key IN ('program', 'executable', 'argv', 'pid', 'parent_pid', 'ending');
