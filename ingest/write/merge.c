/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/write/derived.h"
#include "ingest/write/inherit.h"
#include "ingest/write/insert.h"
#include "ingest/write/statistics.h"

struct writer_merge {
    sqlite3 *database;
    char *path;
    struct ingest_status *status;
    struct writer_options options;
};

static bool fail(struct writer_merge *merge)
{
    if (sqlite3_errcode(merge->database) == SQLITE_INTERRUPT)
        return ingest_fail(merge->status, INGEST_INTERRUPTED, "interrupted");
    return ingest_fail(merge->status, INGEST_BAD_INPUT,
                       "%s: cannot be written: %s (is the disk full?)", merge->path,
                       merge->database ? sqlite3_errmsg(merge->database) : "out of memory");
}

static bool run(struct writer_merge *merge, const char *sql)
{
    return sqlite3_exec(merge->database, sql, NULL, NULL, NULL) == SQLITE_OK || fail(merge);
}

/* Runs `sql` with a text or number for its one parameter. */
static bool run_with(struct writer_merge *merge, const char *sql, const char *text, int64_t number)
{
    sqlite3_stmt *statement = NULL;
    bool good = sqlite3_prepare_v2(merge->database, sql, -1, &statement, NULL) == SQLITE_OK &&
                (text ? sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC)
                      : sqlite3_bind_int64(statement, 1, number)) == SQLITE_OK;
    if (good)
        sqlite3_step(statement);
    return sqlite3_finalize(statement) == SQLITE_OK && good ? true : fail(merge);
}

static int64_t number(struct writer_merge *merge, const char *sql)
{
    sqlite3_stmt *query = NULL;
    int64_t found = 0;
    if (sqlite3_prepare_v2(merge->database, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        found = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return found;
}

static int stop_if_interrupted(void *context)
{
    const volatile sig_atomic_t *interrupted = context;
    return *interrupted != 0;
}

/* Maps of old ids to new ones. Lookups are by the first column. */
static const char maps_sql[] =
    "CREATE TEMP TABLE first(what TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TEMP TABLE file_map(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE function_map(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE type_map(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE source_file_key(path TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO source_file_key SELECT path, id FROM source_file ORDER BY id;"
    /* A function by its name and its module, which may have another address in each process. */
    "CREATE TEMP TABLE function_key(name TEXT, linkage TEXT, path TEXT, build TEXT, id INTEGER,"
    "  PRIMARY KEY(name, linkage, path, build)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO function_key"
    "  SELECT f.name, ifnull(f.linkage_name, ''), ifnull(m.path, ''), ifnull(m.build_id, ''), f.id"
    "  FROM function f LEFT JOIN module m ON m.id = f.module_id ORDER BY f.id;"
    "CREATE TEMP TABLE type_key(name TEXT, size INTEGER, confidence TEXT, element TEXT,"
    "  id INTEGER, PRIMARY KEY(name, size, confidence, element)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO type_key"
    "  SELECT name, ifnull(size, -1), confidence, ifnull(element, ''), id FROM type ORDER BY id;";

/* Notes the highest ids before a session is added. Its own ids continue from these. */
static const char first_sql[] =
    "DELETE FROM first;"
    "INSERT INTO first"
    "  SELECT 'row', ifnull(max(id), 0) FROM main.allocation"
    "  UNION ALL SELECT 'process', ifnull(max(id), 0) FROM main.process"
    "  UNION ALL SELECT 'module', ifnull(max(id), 0) FROM main.module"
    "  UNION ALL SELECT 'frame', ifnull(max(id), 0) FROM main.frame"
    "  UNION ALL SELECT 'stack', ifnull(max(id), 0) FROM main.stack"
    "  UNION ALL SELECT 'thread', ifnull(max(id), 0) FROM main.thread"
    "  UNION ALL SELECT 'arena', ifnull(max(id), 0) FROM main.arena"
    "  UNION ALL SELECT 'mark', ifnull(max(id), 0) FROM main.mark"
    "  UNION ALL SELECT 'region', ifnull(max(id), 0) FROM main.region"
    "  UNION ALL SELECT 'mapping', ifnull(max(mapping), 0) FROM main.region"
    "  UNION ALL SELECT 'problem', ifnull(max(id), 0) FROM main.problem;"
    "CREATE TEMP VIEW IF NOT EXISTS base AS SELECT"
    "  max(id) FILTER (WHERE what = 'row') AS row,"
    "  max(id) FILTER (WHERE what = 'process') AS process,"
    "  max(id) FILTER (WHERE what = 'module') AS module,"
    "  max(id) FILTER (WHERE what = 'frame') AS frame,"
    "  max(id) FILTER (WHERE what = 'stack') AS stack,"
    "  max(id) FILTER (WHERE what = 'thread') AS thread,"
    "  max(id) FILTER (WHERE what = 'arena') AS arena,"
    "  max(id) FILTER (WHERE what = 'mark') AS mark,"
    "  max(id) FILTER (WHERE what = 'region') AS region,"
    "  max(id) FILTER (WHERE what = 'mapping') AS mapping,"
    "  max(id) FILTER (WHERE what = 'problem') AS problem,"
    "  max(id) FILTER (WHERE what = 'later') AS later FROM first;";

/* Gives one id to names that are in both sessions. */
static const char names_sql[] =
    "INSERT OR IGNORE INTO source_file_key"
    "  SELECT path, (SELECT ifnull(max(id), 0) FROM main.source_file) + row_number() OVER (ORDER "
    "BY id)"
    "  FROM part.source_file WHERE path NOT IN (SELECT path FROM source_file_key);"
    "DELETE FROM file_map;"
    "INSERT INTO file_map SELECT s.id, k.id FROM part.source_file s JOIN source_file_key k USING "
    "(path);"
    "INSERT INTO main.source_file SELECT id, path FROM source_file_key"
    "  WHERE id > (SELECT ifnull(max(id), 0) FROM main.source_file) ORDER BY id;"
    "INSERT INTO main.module SELECT id + base.module, path, name, build_id, load_bias, "
    "start_address,"
    "    end_address, loaded_ns + base.later, unloaded_ns + base.later, symbols"
    "  FROM part.module, base;"
    "CREATE TEMP TABLE named AS"
    "  SELECT f.id AS id, f.name AS name, ifnull(f.linkage_name, '') AS linkage,"
    "    ifnull(m.path, '') AS path, ifnull(m.build_id, '') AS build"
    "  FROM part.function f LEFT JOIN part.module m ON m.id = f.module_id;"
    "INSERT OR IGNORE INTO function_key"
    "  SELECT name, linkage, path, build, (SELECT ifnull(max(id), 0) FROM main.function)"
    "    + row_number() OVER (ORDER BY id)"
    "  FROM (SELECT min(id) AS id, name, linkage, path, build FROM named"
    "    GROUP BY name, linkage, path, build) n"
    "  WHERE NOT EXISTS (SELECT 1 FROM function_key k WHERE k.name = n.name AND"
    "    k.linkage = n.linkage AND k.path = n.path AND k.build = n.build);"
    "DELETE FROM function_map;"
    "INSERT INTO function_map SELECT n.id, k.id FROM named n"
    "  JOIN function_key k USING (name, linkage, path, build);"
    "INSERT INTO main.function SELECT m.new, f.name, f.linkage_name,"
    "    iif(f.module_id = 0, 0, f.module_id + base.module), s.new, f.line, f.role"
    "  FROM (SELECT min(old) AS old, new FROM function_map"
    "    WHERE new > (SELECT ifnull(max(id), 0) FROM main.function) GROUP BY new) m, base"
    "  JOIN part.function f ON f.id = m.old"
    "  LEFT JOIN file_map s ON s.old = f.source_file_id ORDER BY m.new;"
    "DROP TABLE named;"
    "INSERT OR IGNORE INTO type_key"
    "  SELECT name, ifnull(size, -1), confidence, ifnull(element, ''),"
    "    (SELECT ifnull(max(id), 0) FROM main.type) + row_number() OVER (ORDER BY id)"
    "  FROM part.type t WHERE NOT EXISTS (SELECT 1 FROM type_key k WHERE k.name = t.name AND"
    "    k.size = ifnull(t.size, -1) AND k.confidence = t.confidence"
    "    AND k.element = ifnull(t.element, ''));"
    "DELETE FROM type_map;"
    "INSERT INTO type_map VALUES (0, 0);"
    "INSERT INTO type_map SELECT t.id, k.id FROM part.type t JOIN type_key k ON k.name = t.name AND"
    "    k.size = ifnull(t.size, -1) AND k.confidence = t.confidence"
    "    AND k.element = ifnull(t.element, '');"
    "INSERT INTO main.type_member SELECT m.new, e.position, e.name, e.offset, e.size, e.type"
    "  FROM type_map m JOIN part.type_member e ON e.type_id = m.old"
    "  WHERE m.new > (SELECT ifnull(max(id), 0) FROM main.type);"
    "INSERT INTO main.type SELECT m.new, t.name, t.size, t.confidence, t.element"
    "  FROM type_map m JOIN part.type t ON t.id = m.old"
    "  WHERE m.new > (SELECT ifnull(max(id), 0) FROM main.type) ORDER BY m.new;";

/* Stack 0 is "none" in every session. */
static const char rows_sql[] =
    "INSERT INTO main.frame SELECT r.id + base.frame,"
    "    iif(r.module_id = 0, 0, r.module_id + base.module), r.pc, f.new, s.new, r.line, r.inlined,"
    "    r.bare"
    "  FROM base, part.frame r JOIN function_map f ON f.old = r.function_id"
    "  LEFT JOIN file_map s ON s.old = r.source_file_id ORDER BY r.id;"
    "INSERT INTO main.stack SELECT t.id + base.stack, depth, call_site_frame_id + base.frame, "
    "f.new,"
    "    state, allocations, bytes, live_count, live_bytes, at_peak_count, at_peak_bytes, "
    "peak_bytes,"
    "    peak_ns, lifetime_ns FROM base, part.stack t"
    "  LEFT JOIN function_map f ON f.old = t.function_id WHERE t.id > 0 ORDER BY t.id;"
    "INSERT INTO main.runtime_stack SELECT stack_id + base.stack, kind, pattern FROM base,"
    "  part.runtime_stack;"
    "INSERT INTO main.process SELECT id + base.process, pid, parent_pid, program, argv,"
    "    start_ns + base.later, end_ns + base.later, ending, trace, allocations, frees, bytes,"
    "    live_count, live_bytes, peak_bytes, peak_ns + base.later, 1, host, boot_id, trace_id,"
    "    parent_trace_id, NULL, NULL, NULL, NULL, NULL, inherited_frees,"
    "    first_allocation_id + base.row, last_allocation_id + base.row, executable"
    "  FROM base, part.process;"
    "INSERT INTO main.thread SELECT id + base.thread, tid, name, start_ns + base.later,"
    "    end_ns + base.later, allocations, frees, bytes, process_id + base.process"
    "  FROM base, part.thread;"
    "INSERT INTO main.type_candidate SELECT stack_id + base.stack, size, position, name"
    "  FROM base, part.type_candidate;"
    "INSERT INTO main.arena SELECT id + base.arena,"
    "    iif(parent_id = 0, 0, parent_id + base.arena), name, allocations, objects, bytes,"
    "    live_count, live_bytes, peak_bytes, peak_ns + base.later FROM base, part.arena;"
    "INSERT INTO main.mark SELECT id + base.mark, ns + base.later, kind, name,"
    "    process_id + base.process FROM base, part.mark;"
    "INSERT INTO main.rss SELECT ns + base.later, bytes, process_id + base.process"
    "  FROM base, part.rss;"
    "INSERT INTO main.region SELECT id + base.region, r.mapping + base.mapping, address, size,"
    "    protection, shared, file, offset, thread_id + base.thread,"
    "    iif(stack_id = 0, 0, stack_id + base.stack), map_ns + base.later, unmap_ns + base.later,"
    "    unmap_thread_id + base.thread, moved_from, changed_from + base.region,"
    "    iif(unmap_stack_id = 0, 0, unmap_stack_id + base.stack), resident"
    "  FROM base, part.region r;"
    "INSERT INTO main.free_call SELECT stack_id + base.stack, function FROM base, part.free_call;"
    "INSERT INTO main.mismatch SELECT stack_id + base.stack, kind,"
    "    iif(free_stack_id = 0, 0, free_stack_id + base.stack), function, allocations, bytes"
    "  FROM base, part.mismatch;"
    "INSERT INTO main.wrong_size SELECT iif(stack_id = 0, 0, stack_id + base.stack),"
    "    iif(free_stack_id = 0, 0, free_stack_id + base.stack), size, stated_size, allocations"
    "  FROM base, part.wrong_size;"
    "INSERT INTO main.problem SELECT id + base.problem, kind, ns + base.later, address,"
    "    thread_id + base.thread, byte_offset, detail FROM base, part.problem;"
    "INSERT OR IGNORE INTO main.sample_weight SELECT * FROM part.sample_weight;"
    "INSERT OR IGNORE INTO main.bundle SELECT * FROM part.bundle;"
    "INSERT OR IGNORE INTO main.sqlar SELECT * FROM part.sqlar;"
    "INSERT INTO main.allocation SELECT a.id + base.row, address, size, count, kind, alignment,"
    "    iif(arena_id = 0, 0, arena_id + base.arena), thread_id + base.thread,"
    "    iif(stack_id = 0, 0, stack_id + base.stack), t.new, alloc_ns + base.later,"
    "    free_ns + base.later, free_thread_id + base.thread,"
    "    iif(free_stack_id = 0, 0, free_stack_id + base.stack), realloc_of + base.row"
    "  FROM base, part.allocation a JOIN type_map t ON t.old = a.type_id ORDER BY a.id;";

/* Merges `meta`: adds counts, takes the last of times, and keeps the rest of the first process. */
static const char meta_sql[] =
    "UPDATE main.meta SET value = value + (SELECT p.value FROM part.meta p WHERE p.key = meta.key)"
    "  WHERE key IN ('reallocs', 'rows', 'failed_allocations', 'typed_allocations', 'typed_bytes',"
    "    'threads', 'stacks', 'arenas', 'arena_allocations', 'arena_bytes', 'arena_live_count_end',"
    "    'arena_live_bytes_end', 'dropped_events', 'unmatched_frees', 'double_frees', "
    "'unseen_frees',"
    "    'mismatched_frees', 'overlaps', 'ambiguous_pairs', 'damaged_bytes',"
    "    'missing_chunks', 'orphaned_stacks', 'unknown_records', 'trace_bytes', "
    "'lost_suppressions', 'wrong_sizes')"
    "  AND key IN (SELECT key FROM part.meta);"
    "UPDATE main.meta SET value = max(value, (SELECT p.value FROM part.meta p WHERE p.key ="
    "  meta.key)) WHERE key = 'suppressions' AND key IN (SELECT key FROM part.meta);"
    "INSERT INTO main.meta SELECT key, value FROM part.meta"
    "  WHERE key IN ('late_modules', 'unseen_modules')"
    "  ON CONFLICT(key) DO UPDATE SET value = value || char(10) || excluded.value"
    "  WHERE instr(char(10) || value || char(10), char(10) || excluded.value || char(10)) = 0;"
    "UPDATE main.meta SET value = max(value, (SELECT p.value + base.later FROM part.meta p, base"
    "  WHERE p.key = 'duration_ns')) WHERE key = 'duration_ns';";

static bool open_database(struct writer_merge *merge)
{
    const volatile sig_atomic_t *interrupted = merge->options.interrupted;
    if (sqlite3_open_v2(merge->path, &merge->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return fail(merge);
    if (interrupted)
        sqlite3_progress_handler(merge->database, 100000, stop_if_interrupted, (void *)interrupted);
    return run(merge, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                      "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;");
}

struct writer_merge *writer_merge_open(const char *path, const struct writer_options *options,
                                       struct ingest_status *status)
{
    struct writer_merge *merge = calloc(1, sizeof(*merge));
    if (!merge || !(merge->path = strdup(path))) {
        free(merge);
        ingest_fail_memory(status, "the session of several processes");
        return NULL;
    }
    merge->status = status;
    merge->options = *options;
    if (open_database(merge) && run(merge, maps_sql) && run(merge, writer_inherit_begin_sql) &&
        run(merge, writer_inherit_first_sql))
        return merge;
    writer_merge_close(merge);
    return NULL;
}

void writer_merge_expect(struct writer_merge *merge)
{
    struct writer_frames *frames = merge->options.draft;
    frames->first_stack = (uint64_t)number(merge, "SELECT ifnull(max(id), 0) FROM stack");
    frames->first_frame = (uint64_t)number(merge, "SELECT ifnull(max(id), 0) FROM frame");
}

bool writer_merge_add(struct writer_merge *merge, const char *path, uint64_t later_ns)
{
    if (!run_with(merge, "ATTACH ? AS part", path, 0))
        return false;
    if (number(merge, "SELECT (SELECT value FROM part.meta WHERE key = 'sample_interval')"
                      " IS NOT (SELECT value FROM main.meta WHERE key = 'sample_interval')") != 0)
        return ingest_fail(merge->status, INGEST_BAD_INPUT,
                           "%s: the processes were sampled differently; make a session of each",
                           merge->path);
    return run(merge, "BEGIN") && run(merge, first_sql) &&
           run_with(merge, "INSERT INTO first VALUES ('later', ?)", NULL, (int64_t)later_ns) &&
           run(merge, names_sql) && run(merge, rows_sql) && run(merge, writer_inherit_part_sql) &&
           run(merge, meta_sql) && run(merge, "COMMIT; DETACH part");
}

bool writer_merge_machine(struct writer_merge *merge, uint32_t machine)
{
    return run_with(merge,
                    "UPDATE process SET machine = ? WHERE id = (SELECT max(id) FROM process)", NULL,
                    (int64_t)machine);
}

bool writer_merge_leave_out(struct writer_merge *merge, const char *why)
{
    return run_with(merge, "INSERT INTO problem(kind, detail) VALUES ('trace left out', ?)", why,
                    0);
}

bool writer_merge_fork(struct writer_merge *merge, uint64_t trace_id, uint64_t begin_ns,
                       uint64_t end_ns)
{
    return writer_inherit_fork(merge->database, trace_id, begin_ns, end_ns) == SQLITE_OK ||
           fail(merge);
}

static bool told_to_stop(const void *context)
{
    const volatile sig_atomic_t *interrupted = context;
    return interrupted && *interrupted != 0;
}

/* Puts the frames of all parts into the file, while SQLite has it closed. */
static bool put_frames(struct writer_merge *merge)
{
    struct writer_frames *frames = merge->options.draft;
    const int64_t root =
        number(merge, "SELECT rootpage FROM sqlite_schema WHERE name = 'stack_frame'");
    sqlite3_close(merge->database);
    merge->database = NULL;
    const int descriptor = open(merge->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        frames->error = errno;
    const bool good =
        descriptor >= 0 && writer_frames_put(frames, descriptor, (uint32_t)root, told_to_stop,
                                             (const void *)merge->options.interrupted);
    if (descriptor >= 0)
        close(descriptor);
    if (good)
        return open_database(merge);
    if (frames->error == EINTR)
        return ingest_fail(merge->status, INGEST_INTERRUPTED, "interrupted");
    return ingest_fail(merge->status, INGEST_BAD_INPUT,
                       "%s: cannot be written: %s (is the disk full?)", merge->path,
                       strerror(frames->error));
}

static bool create_indexes(struct writer_merge *merge)
{
    return (merge->options.index == WRITER_INDEX_NONE ||
            run(merge, "CREATE INDEX allocation_stack ON allocation(stack_id, type_id)")) &&
           (merge->options.index != WRITER_INDEX_ALL || run(merge, writer_all_indexes_sql));
}

bool writer_merge_finish(struct writer_merge *merge)
{
    return run(merge, "BEGIN") &&
           (writer_inherit_put(merge->database) == SQLITE_OK || fail(merge)) &&
           run(merge, "COMMIT") && put_frames(merge) && run(merge, "BEGIN") &&
           writer_derived_put(merge->database, merge->path, merge->status) &&
           create_indexes(merge) &&
           (writer_statistics_put(merge->database) == SQLITE_OK || fail(merge)) &&
           run(merge, "COMMIT");
}

bool writer_merge_select(struct writer_merge *merge, struct run *run, const char *word)
{
    return writer_run_read(merge->database, run, merge->status) &&
           writer_run_select(merge->database, run, word, merge->status);
}

uint64_t writer_merge_fact(struct writer_merge *merge, const char *key)
{
    sqlite3_stmt *query = NULL;
    uint64_t found = 0;
    if (sqlite3_prepare_v2(merge->database, "SELECT value FROM meta WHERE key = ?", -1, &query,
                           NULL) == SQLITE_OK &&
        sqlite3_bind_text(query, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        found = (uint64_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return found;
}

void writer_merge_close(struct writer_merge *merge)
{
    if (!merge)
        return;
    sqlite3_close(merge->database);
    free(merge->path);
    free(merge);
}
