-- SPDX-License-Identifier: BSD-2-Clause
-- The columns of the arrays by stack (schemas/columns.md).
SELECT id, function_id, call_site_frame_id,
  CASE state WHEN 'complete' THEN 1 WHEN 'depth limit' THEN 2 WHEN 'unwind end' THEN 3
    WHEN 'lost' THEN 4 WHEN 'collector' THEN 5 ELSE 0 END,
  allocations, bytes, node_id
FROM stack;
