-- SPDX-License-Identifier: BSD-2-Clause
-- The mappings of the program's own that were there, with the functions that made them.
SELECT g.address, g.size, f.name, 0
FROM resolved r JOIN heap_snapshot s ON s.id = r.id
JOIN region g ON g.map_ns <= s.ns AND (g.unmap_ns IS NULL OR g.unmap_ns > s.ns)
JOIN thread t ON t.id = g.thread_id AND t.process_id = s.process_id
JOIN stack st ON st.id = g.stack_id JOIN function f ON f.id = st.function_id
ORDER BY g.address;
