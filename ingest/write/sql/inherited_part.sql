-- SPDX-License-Identifier: BSD-2-Clause
-- Adds the session `part` of one process to inherit_part, and its frees of inherited blocks.
INSERT INTO inherit_part
  SELECT base.process + 1, base.arena,
    EXISTS (SELECT 1 FROM part.mark WHERE kind IN ('pause', 'resume')) FROM base;
INSERT INTO main.inherited_free
  SELECT (SELECT ifnull(max(id), 0) FROM main.inherited_free) + f.id, process_id + base.process,
    iif(arena_id = 0, 0, arena_id + base.arena), address, free_ns + base.later,
    free_thread_id + base.thread, iif(free_stack_id = 0, 0, free_stack_id + base.stack),
    realloc_to, NULL
  FROM base, part.inherited_free f;
