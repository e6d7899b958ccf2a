-- SPDX-License-Identifier: BSD-2-Clause
-- place, executed_from and parent_id are those of v_process; the guard allows no view.
SELECT p.id, p.pid, p.program, p.argv, p.executable, p.start_ns, p.end_ns, p.allocations, p.frees,
  p.bytes, p.live_count, p.live_bytes, p.peak_bytes, p.peak_ns,
  (SELECT count(*) FROM process q
    WHERE q.pid = p.pid AND q.id <= p.id AND q.machine = p.machine AND q.host = p.host),
  (SELECT iif(q.ending = 'exec', q.id, NULL) FROM process q
    WHERE q.pid = p.pid AND q.id < p.id AND q.machine = p.machine AND q.host = p.host
    ORDER BY q.id DESC LIMIT 1),
  coalesce(p.forked_from, (SELECT q.id FROM process q
    WHERE q.pid = p.parent_pid AND q.id < p.id AND q.machine = p.machine AND q.host = p.host
    ORDER BY q.id DESC LIMIT 1)),
  p.first_allocation_id, p.last_allocation_id, p.ending, p.host, ifnull(r.resident, 0)
FROM process p LEFT JOIN (SELECT process_id AS id, max(bytes) AS resident FROM rss GROUP BY process_id) r
  ON r.id = p.id
ORDER BY p.id;
