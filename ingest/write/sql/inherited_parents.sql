-- SPDX-License-Identifier: BSD-2-Clause
-- Finds the process that forked each one. Processes are in the order of their start, so none is
-- forked from a later one, even if a damaged trace says so.
UPDATE process SET forked_from = (SELECT min(p.id) FROM process p
    WHERE p.trace_id = process.parent_trace_id AND p.id < process.id
    AND p.machine = process.machine)
  WHERE parent_trace_id <> 0;
UPDATE process SET forked_ns = NULL, forked_until_ns = NULL WHERE forked_from IS NULL;
