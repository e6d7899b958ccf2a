-- SPDX-License-Identifier: BSD-2-Clause
-- Adds the rows of the session `part`, with new ids. Stack 0 means "none" in every session. Rows of
-- `allocation` have the session's ids already. Shares of the peak are known when all are added.
INSERT INTO main.frame
  SELECT r.id + base.frame, iif(r.module_id = 0, 0, r.module_id + base.module), r.pc, f.new, s.new,
    r.line, r.inlined, r.bare
  FROM base, part.frame r JOIN function_map f ON f.old = r.function_id
  LEFT JOIN file_map s ON s.old = r.source_file_id ORDER BY r.id;
INSERT INTO main.stack
  SELECT t.id + base.stack, depth, call_site_frame_id + base.frame, f.new,
    user_frame_id + base.frame, o.new, state, allocations,
    bytes, live_count, live_bytes, 0, 0, peak_bytes, iif(peak_bytes = 0, 0, peak_ns + base.later),
    lifetime_ns, node_id + base.node
  FROM base, part.stack t LEFT JOIN function_map f ON f.old = t.function_id
  LEFT JOIN owner_map o ON o.old = t.owner_id
  WHERE t.id > 0 ORDER BY t.id;
INSERT INTO main.runtime_stack
  SELECT stack_id + base.stack, kind, pattern FROM base, part.runtime_stack;
INSERT INTO main.process
  SELECT id + base.process, pid, parent_pid, program, argv, start_ns + base.later,
    end_ns + base.later, ending, trace, allocations, frees, bytes, live_count, live_bytes,
    peak_bytes, iif(peak_bytes = 0, 0, peak_ns + base.later), 1, host, boot_id, trace_id, parent_trace_id,
    NULL, NULL, NULL, NULL, NULL, inherited_frees, first_allocation_id,
    last_allocation_id, executable
  FROM base, part.process;
INSERT INTO main.thread
  SELECT id + base.thread, tid, name, start_ns + base.later, end_ns + base.later, allocations,
    frees, bytes, process_id + base.process
  FROM base, part.thread;
INSERT INTO main.type_candidate
  SELECT stack_id + base.stack, size, position, name FROM base, part.type_candidate;
INSERT INTO main.arena
  SELECT id + base.arena, iif(parent_id = 0, 0, parent_id + base.arena), name, allocations,
    objects, bytes, live_count, live_bytes, peak_bytes,
    iif(peak_bytes = 0, 0, peak_ns + base.later), collected, runtime_id + base.module, kept_ns + base.later, kept_count, kept_bytes
  FROM base, part.arena;
INSERT INTO main.collection
  SELECT id + base.collection, runtime_id + base.module, process_id + base.process,
    begin_ns + base.later, end_ns + base.later, collected, bytes
  FROM base, part.collection;
INSERT INTO main.mark
  SELECT id + base.mark, ns + base.later, kind, name, process_id + base.process
  FROM base, part.mark;
INSERT INTO main.rss
  SELECT ns + base.later, bytes, process_id + base.process FROM base, part.rss;
INSERT INTO main.residency
  SELECT id + base.residency, process_id + base.process, ns + base.later,
    begin_ns + base.later, end_ns + base.later, reason, r.mark, rss_before, rss_after, present, swapped, zero_known, coarse,
    allocator, huge, live_huge, pss, lazy_free, cgroup_bytes, cgroup_limit
  FROM base, part.residency r;
INSERT INTO main.residency_class
  SELECT residency_id + base.residency, class, detail, bytes, blocks, in_rss
  FROM base, part.residency_class;
INSERT INTO main.residency_run
  SELECT residency_id + base.residency, position, data FROM base, part.residency_run;
INSERT INTO main.residency_missing
  SELECT process_id + base.process, why FROM base, part.residency_missing;
INSERT INTO main.heap_snapshot
  SELECT id + base.snapshot, process_id + base.process, ns + base.later, reason, name, partial,
    threads, stopped_ns, read_bytes, left_out, words, why
  FROM base, part.heap_snapshot;
INSERT INTO main.heap_range
  SELECT snapshot_id + base.snapshot, address, size, protection, kind, path, offset
  FROM base, part.heap_range;
INSERT INTO main.heap_thread
  SELECT snapshot_id + base.snapshot, tid, stack_pointer, thread_pointer FROM base, part.heap_thread;
INSERT INTO main.heap_register
  SELECT snapshot_id + base.snapshot, tid, position, number, value FROM base, part.heap_register;
INSERT INTO main.heap_variable
  SELECT snapshot_id + base.snapshot, address, size, name, tid FROM base, part.heap_variable;
INSERT INTO main.heap_words
  SELECT snapshot_id + base.snapshot, position, data FROM base, part.heap_words;
INSERT INTO main.region
  SELECT id + base.region, r.mapping + base.mapping, address, size, protection, shared, file,
    offset, thread_id + base.thread, iif(stack_id = 0, 0, stack_id + base.stack),
    map_ns + base.later, unmap_ns + base.later, unmap_thread_id + base.thread, moved_from,
    changed_from + base.region, iif(unmap_stack_id = 0, 0, unmap_stack_id + base.stack), resident
  FROM base, part.region r;
INSERT INTO main.free_call
  SELECT stack_id + base.stack, function FROM base, part.free_call;
INSERT INTO main.mismatch
  SELECT stack_id + base.stack, kind, iif(free_stack_id = 0, 0, free_stack_id + base.stack),
    function, allocations, bytes
  FROM base, part.mismatch;
INSERT INTO main.earlier_block
  SELECT allocation_id, before_ns FROM part.earlier_block;
INSERT INTO main.wrong_size
  SELECT iif(stack_id = 0, 0, stack_id + base.stack),
    iif(free_stack_id = 0, 0, free_stack_id + base.stack), size, stated_size, allocations
  FROM base, part.wrong_size;
INSERT INTO main.problem
  SELECT id + base.problem, kind, ns + base.later, address, thread_id + base.thread, byte_offset,
    detail
  FROM base, part.problem;
INSERT OR IGNORE INTO main.sample_weight SELECT * FROM part.sample_weight;
INSERT OR IGNORE INTO main.bundle SELECT * FROM part.bundle;
INSERT OR IGNORE INTO main.sqlar SELECT * FROM part.sqlar;
