-- SPDX-License-Identifier: BSD-2-Clause
-- The stacks that the process that was added last allocated by: those after 'part'.
SELECT count(*) FROM stack
WHERE id > (SELECT id FROM first WHERE what = 'part') AND allocations > 0;
