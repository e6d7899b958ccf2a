/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/writer_parts.h"

/*
 * The largest sum over a part's events in order of time; of one nanosecond frees, allocations, and
 * then the frees of these, as writer_derived.c has it. The first of several equal peaks.
 */
#define LARGEST_LIVE(PART, ROWS)                                                                   \
    " SELECT part, live, min(ns) AS ns FROM"                                                       \
    "  (SELECT part, ns, sum(bytes) OVER (PARTITION BY part ORDER BY ns, turn"                     \
    "    ROWS UNBOUNDED PRECEDING) AS live FROM"                                                   \
    "    (SELECT " PART " AS part, alloc_ns AS ns, 1 AS turn, size AS bytes FROM " ROWS            \
    "     UNION ALL SELECT " PART ", free_ns, CASE WHEN free_ns = alloc_ns THEN 2 ELSE 0 END,"     \
    "      -size FROM " ROWS " AND free_ns IS NOT NULL))"                                          \
    " GROUP BY part, live ORDER BY part, live DESC"

#define ARENA_PEAKS LARGEST_LIVE("arena_id", "allocation WHERE arena_id > 0")

const char writer_parts_sql[] =
    "UPDATE thread SET allocations = 0, frees = 0, bytes = 0;"
    "UPDATE thread SET allocations = s.count, bytes = s.bytes FROM"
    "  (SELECT thread_id, count(*) AS count, sum(size) AS bytes FROM allocation"
    "    WHERE arena_id = 0 GROUP BY thread_id) AS s WHERE s.thread_id = thread.id;"
    "UPDATE thread SET frees = s.count FROM"
    "  (SELECT free_thread_id, count(*) AS count FROM allocation"
    "    WHERE arena_id = 0 AND free_thread_id IS NOT NULL GROUP BY free_thread_id) AS s"
    "  WHERE s.free_thread_id = thread.id;"
    "UPDATE arena SET allocations = 0, objects = 0, bytes = 0, live_count = 0, live_bytes = 0,"
    "  peak_bytes = 0, peak_ns = 0;"
    "UPDATE arena SET allocations = s.allocations, objects = s.objects, bytes = s.bytes,"
    "  live_count = s.live_count, live_bytes = s.live_bytes FROM"
    "  (SELECT arena_id, count(*) AS allocations, sum(count) AS objects, sum(size) AS bytes,"
    "    sum(free_ns IS NULL) AS live_count,"
    "    sum(CASE WHEN free_ns IS NULL THEN size ELSE 0 END) AS live_bytes"
    "    FROM allocation WHERE arena_id > 0 GROUP BY arena_id) AS s WHERE s.arena_id = arena.id;"
    "UPDATE arena SET peak_bytes = p.live, peak_ns = p.ns FROM"
    "  (SELECT part, max(live) AS live, ns FROM"
    "    (" ARENA_PEAKS ") GROUP BY part) AS p"
    "  WHERE p.part = arena.id AND p.live > 0;";

#define OF_PROCESSES "allocation a JOIN thread t ON t.id = a.thread_id WHERE arena_id = 0"
#define PROCESS_PEAKS LARGEST_LIVE("t.process_id", OF_PROCESSES)

const char writer_processes_sql[] =
    "UPDATE process SET allocations = 0, frees = 0, bytes = 0, live_count = 0, live_bytes = 0,"
    "  peak_bytes = 0, peak_ns = 0;"
    "UPDATE process SET allocations = s.allocations, frees = s.frees, bytes = s.bytes,"
    "  live_count = s.live_count, live_bytes = s.live_bytes FROM"
    "  (SELECT t.process_id AS process_id, count(*) AS allocations, count(free_thread_id) AS frees,"
    "    sum(size) AS bytes, sum(free_ns IS NULL) AS live_count,"
    "    sum(CASE WHEN free_ns IS NULL THEN size ELSE 0 END) AS live_bytes"
    "    FROM " OF_PROCESSES " GROUP BY t.process_id) AS s WHERE s.process_id = process.id;"
    "UPDATE process SET peak_bytes = p.live, peak_ns = p.ns FROM"
    "  (SELECT part, max(live) AS live, ns FROM"
    "    (" PROCESS_PEAKS ") GROUP BY part) AS p"
    "  WHERE p.part = process.id AND p.live > 0;";

const char writer_one_process_sql[] =
    "UPDATE process SET (allocations, frees, bytes, live_count, live_bytes, peak_bytes, peak_ns) ="
    "  (SELECT max(value) FILTER (WHERE key = 'allocations'),"
    "    max(value) FILTER (WHERE key = 'frees'),"
    "    max(value) FILTER (WHERE key = 'bytes_allocated'),"
    "    max(value) FILTER (WHERE key = 'live_count_end'),"
    "    max(value) FILTER (WHERE key = 'live_bytes_end'),"
    "    max(value) FILTER (WHERE key = 'peak_bytes'),"
    "    max(value) FILTER (WHERE key = 'peak_ns') FROM meta);";
