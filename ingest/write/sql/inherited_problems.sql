-- SPDX-License-Identifier: BSD-2-Clause
-- Reports the first ?1 frees of no inherited block.
INSERT INTO main.problem(kind, ns, address, thread_id, detail)
  SELECT iif(o.kind = 2, 'double free', 'unmatched free'), f.free_ns, f.address,
    f.free_thread_id, iif(o.kind = 2, 'freed before, and not allocated in between',
      'not seen to be allocated: neither here nor in the process that forked this one')
  FROM other o JOIN main.inherited_free f ON f.id = o.id WHERE o.kind > 0
  ORDER BY f.id LIMIT ?1;
