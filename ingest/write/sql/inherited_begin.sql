-- SPDX-License-Identifier: BSD-2-Clause
-- inherit_part: the processes. The session's arena ids are the trace's plus `arena`. `rested`:
-- recording was paused, so blocks may be missing. The finished session does not have the table.
CREATE TABLE main.inherit_part(process INTEGER PRIMARY KEY, arena INTEGER, rested INTEGER);
INSERT INTO inherit_part
  SELECT 1, 0, EXISTS (SELECT 1 FROM main.mark WHERE kind IN ('pause', 'resume'));
