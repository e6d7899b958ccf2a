-- SPDX-License-Identifier: BSD-2-Clause
-- The keys of `meta` that depend on the rows of a part.
UPDATE meta SET value = (SELECT count(*) FROM inherited_free) WHERE key = 'inherited_frees';
UPDATE meta SET value = 0 WHERE key = 'presumed_inherited_frees';
UPDATE meta SET value = (SELECT count(*) FROM earlier_block JOIN allocation ON id = allocation_id
    WHERE arena_id = 0)
  WHERE key = 'earlier_blocks';
UPDATE meta SET value = (SELECT ifnull(sum(size), 0)
    FROM earlier_block JOIN allocation ON id = allocation_id WHERE arena_id = 0)
  WHERE key = 'earlier_bytes';
