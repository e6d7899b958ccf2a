-- SPDX-License-Identifier: BSD-2-Clause
-- The nodes of all stacks, each after its parent, with the stack that ends there.
SELECT n.id, n.parent_id, n.frame_id, fr.function_id, s.id, s.call_site_frame_id
FROM stack_node n
  LEFT JOIN frame fr ON fr.id = n.frame_id
  LEFT JOIN stack s ON s.node_id = n.id
ORDER BY n.id DESC;
