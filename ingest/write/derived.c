/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/derived.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ingest/base/array.h"
#include "ingest/replay/row_batch.h"
#include "ingest/write/functions.h"
#include "ingest/write/packed.h"
#include "ingest/write/row_sample.h"
#include "ingest/write/rows.h"
#include "ingest/write/session_tables.h"
#include "ingest/write/type_pairs.h"
#include "schemas/array.h"
#include "schemas/column_codec.h"
#include "schemas/packed_array.h"
#include "arena_totals_sql.h"
#include "derived_clear_sql.h"
#include "derived_rows_sql.h"
#include "derived_stacks_sql.h"
#include "derived_tables_sql.h"
#include "estimate_sql.h"
#include "process_ranges_sql.h"
#include "process_totals_sql.h"
#include "several_machines_sql.h"
#include "stack_totals_sql.h"
#include "statistics_sql.h"

/* Counts the stacks that each process of a session allocated by: packed array 6 of
 * schemas/columns.md. Only sessions of several processes have it. */

struct process_stacks {
    struct process_range {
        uint64_t first, last; /* ids of its rows; 0: it has none */
        uint32_t stacks;
    } * processes; /* by id - 1 */
    size_t count, capacity, current;
    uint32_t *seen; /* by stack: the last process that used it, 0: none */
    size_t seen_capacity;
};

/* Reads the processes. All bytes 0 before. Returns SQLite's code, as process_stacks_put() does. */
static int process_stacks_open(struct process_stacks *stacks, sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, process_ranges_sql, -1, &query, NULL);
    while (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        if (!ARRAY_RESERVE(stacks->processes, stacks->count, stacks->capacity))
            result = SQLITE_NOMEM;
        else
            stacks->processes[stacks->count++] =
                (struct process_range){.first = (uint64_t)sqlite3_column_int64(query, 0),
                                       .last = (uint64_t)sqlite3_column_int64(query, 1)};
    }
    const int finalized = sqlite3_finalize(query);
    return result == SQLITE_OK ? finalized : result;
}

/* Returns the process of a row, NULL if it has none. Rows of a process follow each other. */
static struct process_range *find(struct process_stacks *stacks, uint64_t id)
{
    for (size_t i = 0; i < stacks->count; i++) {
        struct process_range *process = &stacks->processes[stacks->current];
        if (process->first != 0 && id >= process->first && id <= process->last)
            return process;
        stacks->current = (stacks->current + 1) % stacks->count;
    }
    return NULL;
}

/* Counts the rows of a batch. Batches come by ids. False if memory is exhausted. */
static bool process_stacks_add(struct process_stacks *stacks, const struct row_batch *batch)
{
    for (size_t i = 0; stacks->count > 1 && i < batch->rows; i++) {
        const uint64_t stack = batch->column[COLUMN_STACK][i];
        struct process_range *process = find(stacks, batch->first_id + i);
        if (!process || stack == 0 || stack > UINT32_MAX || batch->column[COLUMN_ARENA][i] != 0)
            continue;
        if (!ARRAY_RESERVE(stacks->seen, stack, stacks->seen_capacity))
            return false;
        const uint32_t number = (uint32_t)stacks->current + 1;
        process->stacks += stacks->seen[stack] != number;
        stacks->seen[stack] = number;
    }
    return true;
}

static int process_stacks_put(const struct process_stacks *stacks, sqlite3 *database)
{
    if (stacks->count < 2)
        return SQLITE_OK;
    uint8_t *data = calloc(stacks->count, 4);
    if (!data)
        return SQLITE_NOMEM;
    for (size_t i = 0; i < stacks->count; i++)
        packed_put(data + i * 4, stacks->processes[i].stacks, 4);
    const int result =
        writer_packed_put_array(database, PACKED_PROCESS_STACKS, data, stacks->count * 4);
    free(data);
    return result;
}

static void process_stacks_free(struct process_stacks *stacks)
{
    FREE_ALL(stacks->processes, stacks->seen);
    *stacks = (struct process_stacks){.processes = NULL};
}

struct derived {
    struct writer_database *database;
    struct ingest_status *status; /* the database's */
    struct table_sink sink;       /* into the database */
    struct writer_rows rows;
    struct row_batch *batch;
    struct process_stacks process_stacks;
    struct row_sample *sample; /* NULL: too few rows */
    struct type_pairs type_pairs;
    uint32_t *call_sites; /* by stack: the id of the call site's function, 0: none */
    size_t stack_count, stack_capacity;
    struct totals totals;
    struct writer_thread_totals thread_totals;
    uint32_t machine; /* the one whose rows are counted, 0: all rows are of one machine */
    uint64_t machines;
    uint64_t last_type; /* the largest id */
};

static bool fail_row(struct derived *derived, const char *table, int64_t id, const char *what)
{
    return ingest_fail(derived->status, INGEST_BAD_INPUT,
                       "%s: table %s, row %" PRId64 ": %s; ingest the trace again",
                       derived->database->name, table, id, what);
}

static bool run(struct derived *derived, const char *sql)
{
    return writer_database_run(derived->database, sql);
}

static sqlite3_stmt *prepare(struct derived *derived, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(derived->database->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        writer_database_fail(derived->database, NULL);
    return statement;
}

/* Steps to the next row. False at the end or with the status set. */
static bool next_row(struct derived *derived, sqlite3_stmt *query)
{
    int result = sqlite3_step(query);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        writer_database_fail(derived->database, NULL);
    return result == SQLITE_ROW;
}

/* Runs a statement with numbers for its parameters. */
static bool put(struct derived *derived, sqlite3_stmt *statement, size_t count,
                const uint64_t *numbers)
{
    for (size_t i = 0; i < count; i++)
        sqlite3_bind_int64(statement, (int)i + 1, (int64_t)numbers[i]);
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK || writer_database_fail(derived->database, NULL);
}

static bool good(const struct derived *derived)
{
    return derived->status->code == INGEST_OK;
}

static bool put_columns(struct derived *derived)
{
    struct row_batch *batch = derived->batch;
    if (batch->rows != 0 && writer_rows_put_columns(&derived->rows, batch) != SQLITE_OK)
        return writer_database_fail(derived->database, NULL);
    if (!process_stacks_add(&derived->process_stacks, batch))
        return ingest_fail_memory(derived->status, "the stacks of processes");
    if (derived->sample)
        row_sample_add(derived->sample, batch);
    type_pairs_add(&derived->type_pairs, batch);
    batch->first_id += batch->rows;
    batch->rows = 0;
    return true;
}

static bool read_row(struct derived *derived, sqlite3_stmt *query)
{
    /* In the order of the query's values after the id. NULL is 0. */
    static const enum column columns[COLUMN_TOTAL] = {
        COLUMN_ADDRESS,    COLUMN_SIZE,      COLUMN_ALLOC_NS,         COLUMN_LIFE_NS,
        COLUMN_STACK,      COLUMN_THREAD,    COLUMN_FREE_THREAD,      COLUMN_KIND,
        COLUMN_TYPE,       COLUMN_ARENA,     COLUMN_COUNT_OF_OBJECTS, COLUMN_ALIGNMENT,
        COLUMN_REALLOC_OF, COLUMN_FREE_STACK};
    struct row_batch *batch = derived->batch;
    uint64_t id = (uint64_t)sqlite3_column_int64(query, 0);
    if (id != batch->first_id + batch->rows)
        return fail_row(derived, "allocation", (int64_t)id, "the ids have gaps");
    for (int i = 0; i < COLUMN_TOTAL; i++)
        batch->column[columns[i]][batch->rows] = (uint64_t)sqlite3_column_int64(query, i + 1);
    return ++batch->rows < COLUMN_CHUNK_ROWS || put_columns(derived);
}

static uint64_t number_of(struct derived *derived, const char *sql)
{
    int64_t number;
    writer_database_number(derived->database, sql, &number);
    return (uint64_t)number;
}

static bool derive_columns(struct derived *derived)
{
    derived->batch->first_id = 1;
    derived->batch->rows = 0;
    if (!run(derived, "DELETE FROM column_chunk"))
        return false;
    if (process_stacks_open(&derived->process_stacks, derived->database->sqlite) != SQLITE_OK)
        return writer_database_fail(derived->database, NULL);
    const uint64_t rows = number_of(derived, "SELECT count(*) FROM allocation");
    if (rows >= ROW_SAMPLE_FEWEST &&
        !(derived->sample = row_sample_new(
              number_of(derived, "SELECT value FROM meta WHERE key = 'duration_ns'"))))
        return ingest_fail_memory(derived->status, "a sample of the rows");
    sqlite3_stmt *query = prepare(derived, derived_rows_sql);
    while (good(derived) && next_row(derived, query) && read_row(derived, query))
        continue;
    sqlite3_finalize(query);
    return good(derived) && put_columns(derived) && run(derived, "DELETE FROM sample_chunk") &&
           (!derived->sample ||
            row_sample_put(derived->sample, derived->database->sqlite, derived->batch) ==
                SQLITE_OK ||
            writer_database_fail(derived->database, NULL));
}

static bool read_stacks(struct derived *derived)
{
    sqlite3_stmt *query = prepare(derived, derived_stacks_sql);
    while (good(derived) && next_row(derived, query)) {
        int64_t id = sqlite3_column_int64(query, 0), function = sqlite3_column_int64(query, 1);
        if (id != (int64_t)derived->stack_count || function < 0 ||
            function > sqlite3_column_int64(query, 2))
            fail_row(derived, "stack", id, "the ids have gaps, or there is no such function");
        else if (!ARRAY_RESERVE(derived->call_sites, derived->stack_count, derived->stack_capacity))
            ingest_fail_memory(derived->status, "the stacks");
        else
            derived->call_sites[derived->stack_count++] = (uint32_t)function;
    }
    sqlite3_finalize(query);
    return good(derived);
}

/* A query of the beginnings or ends of blocks: (time, size, stack, id, thread, type, address, …).
 */
struct life_end {
    sqlite3_stmt *query;
    bool more;
};

static bool check_event(struct derived *derived, sqlite3_stmt *query)
{
    int64_t stack = sqlite3_column_int64(query, 2), id = sqlite3_column_int64(query, 3);
    int64_t type = sqlite3_column_int64(query, 5);
    if (stack < 0 || stack >= (int64_t)derived->stack_count || type < 0 ||
        type > (int64_t)derived->last_type || sqlite3_column_int64(query, 1) < 0 ||
        sqlite3_column_int64(query, 0) < 0)
        return fail_row(derived, "allocation", id, "there is no such stack, type, size or time");
    return true;
}

static bool step(struct derived *derived, struct life_end *end)
{
    end->more = next_row(derived, end->query);
    return good(derived) && (!end->more || check_event(derived, end->query));
}

/* Returns true if a free is next. In one nanosecond frees come first, then allocations, then the
 * frees of these allocations. */
static bool free_is_next(const struct life_end *allocated, const struct life_end *freed)
{
    if (!freed->more || !allocated->more)
        return freed->more;
    int64_t free_ns = sqlite3_column_int64(freed->query, 0);
    int64_t alloc_ns = sqlite3_column_int64(allocated->query, 0);
    if (free_ns != alloc_ns)
        return free_ns < alloc_ns;
    return sqlite3_column_int64(freed->query, 7) > 0;
}

static bool replay_lives(struct derived *derived, struct life_end *allocated,
                         struct life_end *freed)
{
    if (!step(derived, allocated) || !step(derived, freed))
        return false;
    while (good(derived) && (allocated->more || freed->more)) {
        bool is_free = free_is_next(allocated, freed);
        struct life_end *end = is_free ? freed : allocated;
        uint64_t ns = (uint64_t)sqlite3_column_int64(end->query, 0);
        const uint32_t stack = (uint32_t)sqlite3_column_int64(end->query, 2);
        const struct totals_block block = {
            .address = (uint64_t)sqlite3_column_int64(end->query, 6),
            .size = (uint64_t)sqlite3_column_int64(end->query, 1),
            .alloc_ns = ns,
            .stack = stack,
            .function = derived->call_sites[stack],
            .type = (uint32_t)sqlite3_column_int64(end->query, 5),
        };
        int64_t thread = sqlite3_column_int64(end->query, 4);
        if (is_free) {
            int64_t freed_by = sqlite3_column_int64(end->query, 8);
            if (!totals_free(&derived->totals, &block, ns,
                             (uint64_t)sqlite3_column_int64(end->query, 7), freed_by != 0))
                return ingest_fail_memory(derived->status, "sums");
            writer_thread_totals_free(&derived->thread_totals, thread, block.size, freed_by);
        } else {
            if (!totals_allocate(&derived->totals, &block))
                return ingest_fail_memory(derived->status, "sums");
            writer_thread_totals_allocate(&derived->thread_totals, thread, block.size, ns);
        }
        step(derived, end);
    }
    totals_finish(&derived->totals);
    if (!totals_finish_slots(&derived->totals))
        return ingest_fail_memory(derived->status, "sums");
    return good(derived);
}

static sqlite3_stmt *prepare_lives(struct derived *derived, const char *select, const char *order)
{
    char sql[512];
    snprintf(sql, sizeof(sql), "SELECT %s FROM allocation WHERE arena_id = 0%s%s", select,
             derived->machine == 0 ? ""
                                   : " AND thread_id IN (SELECT t.id FROM thread t"
                                     " JOIN process p ON p.id = t.process_id WHERE p.machine = ?)",
             order);
    sqlite3_stmt *query = prepare(derived, sql);
    if (query && derived->machine != 0)
        sqlite3_bind_int64(query, 1, (int64_t)derived->machine);
    return query;
}

static bool replay_machine(struct derived *derived)
{
    struct life_end allocated = {
        prepare_lives(derived, "alloc_ns, size, stack_id, id, thread_id, type_id, address",
                      " ORDER BY alloc_ns"),
        false};
    struct life_end freed = {
        prepare_lives(derived,
                      "free_ns, size, stack_id, id, thread_id, type_id, address,"
                      " free_ns - alloc_ns, free_thread_id",
                      " AND free_ns IS NOT NULL ORDER BY free_ns, free_ns = alloc_ns"),
        false};
    bool done = good(derived) && replay_lives(derived, &allocated, &freed);
    sqlite3_finalize(allocated.query);
    sqlite3_finalize(freed.query);
    return done;
}

/* Replays the rows of each machine separately: live blocks of different machines are never added
 * up. The session's peak is the largest of the machines' peaks. */
static bool replay_machines(struct derived *derived, uint64_t duration_ns)
{
    struct totals *sum = calloc(1, sizeof(*sum));
    if (!sum)
        return ingest_fail_memory(derived->status, "the sums of each machine");
    bool done = true;
    for (uint32_t machine = 1; done && machine <= derived->machines; machine++) {
        derived->machine = machine;
        totals_init(&derived->totals, duration_ns);
        done = replay_machine(derived) &&
               session_timeline_put(&derived->sink, &derived->totals, machine);
        if (done && !totals_join(sum, &derived->totals))
            done = ingest_fail_memory(derived->status, "the sums of each machine");
        totals_free_memory(&derived->totals);
    }
    if (done)
        derived->totals = *sum;
    else
        totals_free_memory(sum);
    free(sum);
    return done;
}

static bool replay_rows(struct derived *derived)
{
    /* A free before its allocation would make sums negative. */
    uint64_t backwards = number_of(derived, "SELECT id FROM allocation WHERE free_ns < alloc_ns");
    if (backwards != 0)
        return fail_row(derived, "allocation", (int64_t)backwards, "freed before it was allocated");
    derived->last_type = number_of(derived, "SELECT ifnull(max(id), 0) FROM type");
    uint64_t duration_ns = number_of(derived, "SELECT value FROM meta WHERE key = 'duration_ns'");
    derived->machines = number_of(derived, "SELECT ifnull(max(machine), 1) FROM process");
    if (good(derived) &&
        derived->machines > number_of(derived, "SELECT count(DISTINCT machine) FROM process"))
        return fail_row(derived, "process", (int64_t)derived->machines, "the machines have gaps");
    if (!good(derived) || (writer_thread_totals_read(&derived->thread_totals,
                                                     derived->database->sqlite) != SQLITE_OK &&
                           !writer_database_fail(derived->database, NULL)))
        return false;
    if (derived->machines > 1)
        return replay_machines(derived, duration_ns);
    totals_init(&derived->totals, duration_ns);
    uint64_t rows = number_of(derived, "SELECT count(*) FROM allocation");
    if (!totals_sum_slots(&derived->totals, duration_ns, rows))
        return ingest_fail_memory(derived->status, "the sums by time");
    return replay_machine(derived) && session_timeline_put(&derived->sink, &derived->totals, 1);
}

static bool put_stacks(struct derived *derived)
{
    sqlite3_stmt *update = prepare(derived, stack_totals_sql);
    for (size_t i = 0; good(derived) && i < derived->stack_count; i++) {
        const struct stack_usage usage = stack_usages_of(&derived->totals.stacks, i);
        const uint64_t row[] = {i,
                                usage.allocations,
                                usage.bytes,
                                usage.live_count,
                                usage.live_bytes,
                                usage.at_peak_count,
                                usage.at_peak_bytes,
                                usage.peak_bytes,
                                usage.peak_ns,
                                usage.lifetime_ns};
        put(derived, update, sizeof(row) / sizeof(*row), row);
    }
    sqlite3_finalize(update);
    return good(derived);
}

/* Returns true if SQLite's code is SQLITE_OK. If not, it sets the status. */
static bool check(struct derived *derived, int result, const char *what)
{
    return result == SQLITE_NOMEM ? ingest_fail_memory(derived->status, what)
                                  : writer_database_check(derived->database, result);
}

static bool put_type_pairs(struct derived *derived)
{
    return check(
        derived,
        type_pairs_put(&derived->type_pairs, &derived->totals.stacks, derived->database->sqlite),
        "the types of stacks and sizes");
}

bool writer_derived_meta(struct writer_database *database, const struct totals *totals,
                         uint64_t machines)
{
    const struct {
        const char *key;
        uint64_t value;
    } facts[] = {
        {"events", totals->allocations + totals->frees},
        {"allocations", totals->allocations},
        {"frees", totals->frees},
        {"bytes_allocated", totals->bytes},
        {"live_bytes_end", totals->live_bytes},
        {"live_count_end", totals->live_count},
        {"peak_bytes", totals->peak_bytes},
        {"peak_count", totals->peak_count},
        {"peak_ns", totals->peak_ns},
        {"timeline_slot_ns", totals->slot_ns},
        {"machines", machines},
    };
    char sql[128];
    bool good = true;
    for (size_t i = 0; good && i < sizeof(facts) / sizeof(*facts); i++) {
        snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO meta VALUES ('%s', ?)", facts[i].key);
        good = writer_database_run_with(database, sql, NULL, (int64_t)facts[i].value);
    }
    return good && (machines == 1 || writer_database_run(database, several_machines_sql));
}

static bool derive_estimate(struct derived *derived)
{
    if (number_of(derived, "SELECT count(*) FROM sample_weight") == 0)
        return good(derived);
    return run(derived, "DELETE FROM estimate; DELETE FROM meta WHERE key GLOB 'estimated_*';") &&
           run(derived, estimate_sql);
}

static bool derive_parts(struct derived *derived)
{
    bool several = number_of(derived, "SELECT count(*) FROM process") > 1;
    return good(derived) && run(derived, arena_totals_sql) &&
           (writer_thread_totals_put(&derived->thread_totals, derived->database->sqlite, several) ==
                SQLITE_OK ||
            writer_database_fail(derived->database, NULL)) &&
           (several || run(derived, process_totals_sql));
}

static bool derive_sums(struct derived *derived)
{
    return run(derived, derived_clear_sql) && read_stacks(derived) && replay_rows(derived) &&
           put_stacks(derived) && session_sizes_put(&derived->sink, &derived->totals) &&
           session_type_totals_put(&derived->sink, &derived->totals.types) &&
           session_slots_put(&derived->sink, derived->totals.slot_sums) &&
           writer_functions_put(derived->database, derived->call_sites, derived->stack_count,
                                &derived->totals) &&
           put_type_pairs(derived) &&
           writer_derived_meta(derived->database, &derived->totals, derived->machines) &&
           derive_parts(derived) && derive_estimate(derived);
}

static bool derive_packed(struct derived *derived)
{
    sqlite3 *database = derived->database->sqlite;
    return (run(derived, "DELETE FROM packed_array") &&
            writer_packed_put(database, &derived->rows.directory) == SQLITE_OK &&
            process_stacks_put(&derived->process_stacks, database) == SQLITE_OK) ||
           writer_database_fail(derived->database, NULL);
}

/* Makes them in one transaction, which the caller begins and ends. False with the database's status
 * set, also if rows contradict each other. */
static bool writer_derived_put(struct writer_database *database)
{
    struct derived *derived = calloc(1, sizeof(*derived)); /* too large for the stack */
    bool done = false;
    if (!derived)
        return ingest_fail_memory(database->status, "the sums");
    derived->database = database;
    derived->status = database->status;
    derived->sink = writer_database_sink(database);
    derived->batch = malloc(sizeof(*derived->batch));
    if (!derived->batch)
        ingest_fail_memory(database->status, "rows");
    else if (writer_rows_open(&derived->rows, database->sqlite) != SQLITE_OK)
        writer_database_fail(database, NULL);
    else
        done = derive_columns(derived) && derive_sums(derived) && derive_packed(derived);
    writer_rows_close(&derived->rows);
    process_stacks_free(&derived->process_stacks);
    totals_free_memory(&derived->totals);
    writer_thread_totals_close(&derived->thread_totals);
    FREE_ALL(derived->call_sites, derived->batch);
    row_sample_free(derived->sample);
    type_pairs_free(&derived->type_pairs);
    free(derived);
    return done;
}

/* ---- --rebuild -------------------------------------------------------------------------- */

/* Returns false, with the status set, unless the file is a finished session of this version. */
static bool is_finished_session(struct writer_database *database)
{
    int64_t number;
    if (!writer_database_number(database, "PRAGMA application_id", &number) ||
        number != SESSION_APPLICATION_ID)
        return ingest_fail(database->status, INGEST_BAD_INPUT,
                           "%s: is not a session; make one from a trace with mprof-ingest",
                           database->name);
    if (!writer_database_number(database, "PRAGMA user_version", &number) ||
        number != SESSION_SCHEMA_VERSION)
        return ingest_fail(database->status, INGEST_BAD_INPUT,
                           "%s: is a session of another version of mprof; ingest the trace again",
                           database->name);
    if (!writer_database_number(database, derived_tables_sql, &number))
        return false;
    if (number != 16)
        return ingest_fail(database->status, INGEST_BAD_INPUT,
                           "%s: is a session of another version of mprof; ingest the trace again",
                           database->name);
    if (!writer_database_number(database, "SELECT value FROM meta WHERE key = 'unfinished'",
                                &number))
        return false;
    return number <= 0 || ingest_fail(database->status, INGEST_BAD_INPUT,
                                      "%s: still being recorded; wait for its end", database->name);
}

bool writer_rebuild(const char *path, const volatile sig_atomic_t *interrupted,
                    struct ingest_status *status)
{
    struct writer_database database = {.name = path, .interrupted = interrupted, .status = status};
    bool done = false;
    if (!writer_database_open(&database, path, SQLITE_OPEN_READWRITE)) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be opened: %s", path,
                    database.sqlite ? sqlite3_errmsg(database.sqlite) : "out of memory");
    } else {
        sqlite3_busy_timeout(database.sqlite, 3000);
        /* A file that came from elsewhere may have views in place of tables, which have rows
         * without end, and triggers. */
        sqlite3_db_config(database.sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
        sqlite3_db_config(database.sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        sqlite3_db_config(database.sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        done = is_finished_session(&database) &&
               writer_database_run(&database, "PRAGMA cache_size = -65536; BEGIN IMMEDIATE") &&
               writer_derived_put(&database) && writer_references_put(&database) &&
               writer_database_run(&database, statistics_sql) &&
               writer_database_run(&database, "COMMIT");
    }
    writer_database_close(&database);
    return done;
}
