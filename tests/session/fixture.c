/* SPDX-License-Identifier: BSD-2-Clause */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "fixture_nodes.h"
#include "fixture_program.h"
#include "schemas/column_codec.h"

static bool check(sqlite3 *database, int status, const char *what)
{
    if (status == SQLITE_OK || status == SQLITE_DONE)
        return true;
    fprintf(stderr, "fixture: %s: %s\n", what, sqlite3_errmsg(database));
    return false;
}

static bool run_sql(sqlite3 *database, const char *sql)
{
    return check(database, sqlite3_exec(database, sql, NULL, NULL, NULL), sql);
}

/* Binds `count` numbers (INT64_MIN: NULL) after the given text, steps, resets. */
static bool insert(sqlite3_stmt *statement, const char *text, int text_index,
                   const int64_t *numbers, int count)
{
    int index = 1;
    for (int i = 0; i < count; i++, index++) {
        if (index == text_index)
            index++;
        if (numbers[i] == INT64_MIN)
            sqlite3_bind_null(statement, index);
        else
            sqlite3_bind_int64(statement, index, numbers[i]);
    }
    if (text_index > 0)
        sqlite3_bind_text(statement, text_index, text, -1, SQLITE_TRANSIENT);
    int status = sqlite3_step(statement);
    sqlite3_reset(statement);
    return check(sqlite3_db_handle(statement), status, sqlite3_sql(statement));
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (!check(database, sqlite3_prepare_v2(database, sql, -1, &statement, NULL), sql))
        abort();
    return statement;
}

static bool load_schema(sqlite3 *database)
{
    FILE *file = fopen(FIXTURE_SCHEMA, "r");
    if (!file) {
        perror(FIXTURE_SCHEMA);
        return false;
    }
    static char sql[65536];
    size_t length = fread(sql, 1, sizeof(sql) - 1, file);
    sql[length] = '\0';
    fclose(file);
    char pragma[128];
    snprintf(pragma, sizeof(pragma), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             SESSION_APPLICATION_ID, SESSION_SCHEMA_VERSION);
    return run_sql(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                             "PRAGMA page_size=16384") &&
           run_sql(database, pragma) && run_sql(database, "BEGIN") && run_sql(database, sql);
}

static bool write_meta(sqlite3 *database, const struct fixture_program *program)
{
    sqlite3_stmt *statement = prepare(database, "INSERT INTO meta(value, key) VALUES(?, ?)");
    int64_t freed = (int64_t)(program->count - program->live_count);
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"pid", 4711},
        {"duration_ns", (int64_t)program->duration_ns},
        {"events", (int64_t)program->count + freed},
        {"allocations", (int64_t)program->count},
        {"frees", freed},
        {"reallocs", (int64_t)program->reallocs},
        {"bytes_allocated", (int64_t)program->bytes},
        {"live_bytes_end", (int64_t)program->live_bytes},
        {"live_count_end", (int64_t)program->live_count},
        {"peak_bytes", (int64_t)program->peak_bytes},
        {"peak_ns", (int64_t)program->peak_ns},
        {"threads", (int64_t)program->options.threads},
        {"stacks", (int64_t)program->options.stacks},
        {"dropped_events", 0},
        {"unmatched_frees", 2},
        {"double_frees", 0},
        {"overlaps", 0},
        {"ambiguous_pairs", 0},
        {"damaged_bytes", 0},
        {"sampled", 0},
    };
    bool good = run_sql(database, "INSERT INTO meta VALUES('program', 'fixture-server'),"
                                  "('argv', 'fixture-server --listen 127.0.0.1'),"
                                  "('start_time', '2024-05-01T12:00:00Z')");
    for (size_t i = 0; good && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        good = insert(statement, numbers[i].key, 2, &numbers[i].value, 1);
    sqlite3_finalize(statement);
    return good;
}

static const char *const module_names[FIXTURE_MODULES] = {"fixture-server", "libc.so.6",
                                                          "libstore.so.2",  "libparse.so.1",
                                                          "libcrypto.so.3", "libui.so.4"};
static const char *const verbs[] = {"parse", "read",   "store", "render", "find",
                                    "grow",  "decode", "merge", "queue",  "format"};
static const char *const nouns[] = {"request", "header", "table",  "node",  "message",
                                    "buffer",  "image",  "record", "index", "session",
                                    "widget",  "token",  "page",   "cache", "string"};

static void function_name(uint64_t id, char *name, size_t size)
{
    static const char *const first[] = {"xmalloc", "checked_alloc", "main"};
    if (id <= 3) {
        snprintf(name, size, "%s", first[id - 1]);
        return;
    }
    const char *verb = verbs[id % 10];
    const char *noun = nouns[id / 10 % 15];
    if (id < 150)
        snprintf(name, size, "%s_%s", verb, noun);
    else
        snprintf(name, size, "store::%s_%s<%d>::run(std::string const&)", verb, noun,
                 (int)(id / 150));
}

static bool write_code(sqlite3 *database, const struct fixture_program *program)
{
    sqlite3_stmt *module = prepare(
        database, "INSERT INTO module(id, name, load_bias, start_address, end_address, loaded_ns,"
                  "path, symbols) VALUES(?1, ?2, ?3, ?3, ?4, 0, '/usr/lib/' || ?2, 'dwarf')");
    sqlite3_stmt *file = prepare(database, "INSERT INTO source_file VALUES(?, ?)");
    sqlite3_stmt *function =
        prepare(database, "INSERT INTO function(id, name, module_id, source_file_id, line, role)"
                          "VALUES(?1, ?2, ?3, ?4, ?5, CASE WHEN ?1 < 3 THEN 'wrapper' END)");
    sqlite3_stmt *frame = prepare(database, "INSERT INTO frame VALUES(?, ?, ?, ?, ?, ?, ?, 0)");
    bool good = true;
    char name[128];
    for (int64_t id = 1; good && id <= FIXTURE_MODULES; id++) {
        int64_t start = INT64_C(0x7f0000000000) + id * 0x1000000;
        good = insert(module, module_names[id - 1], 2, (int64_t[]){id, start, start + 0x400000}, 3);
    }
    for (int64_t id = 1; good && id <= 15; id++) {
        snprintf(name, sizeof(name), "/src/fixture/%s.c", nouns[id - 1]);
        good = insert(file, name, 2, (int64_t[]){id}, 1);
    }
    for (int64_t id = 1; good && id <= (int64_t)program->options.functions; id++) {
        function_name((uint64_t)id, name, sizeof(name));
        int64_t module_id = id < 4 ? 1 : id % FIXTURE_MODULES + 1;
        /* One in eight has no line information. */
        int64_t file_id = id % 8 == 7 ? INT64_MIN : id % 15 + 1;
        good = insert(function, name, 2, (int64_t[]){id, module_id, file_id, 10 + id % 900}, 4);
        for (int64_t line = 0; good && line < FIXTURE_LINES; line++)
            good = insert(frame, NULL, 0,
                          (int64_t[]){(id - 1) * FIXTURE_LINES + line + 1, module_id,
                                      0x1000 + id * 64 + line * 16, id, file_id,
                                      file_id == INT64_MIN ? INT64_MIN : 12 + id % 900 + line * 3,
                                      id % 9 == 5},
                          7);
    }
    sqlite3_finalize(module);
    sqlite3_finalize(file);
    sqlite3_finalize(function);
    sqlite3_finalize(frame);
    return good;
}

static bool write_stacks(sqlite3 *database, const struct fixture_program *program)
{
    sqlite3_stmt *stack =
        prepare(database, "INSERT INTO stack(id, depth, call_site_frame_id, function_id, state,"
                          " owner_id) VALUES(?1, ?2, ?3, ?4, ?5, nullif(?1 % 4, 0))");
    bool good = run_sql(database, "CREATE TEMP TABLE whole(stack_id INTEGER, depth INTEGER,"
                                  " frame_id INTEGER, PRIMARY KEY(stack_id, depth)) WITHOUT ROWID");
    sqlite3_stmt *frame = prepare(database, "INSERT INTO whole VALUES(?, ?, ?)");
    good = good && run_sql(database, "INSERT INTO stack(id, depth, state) VALUES(0, 0, 'none');"
                                     /* Owners 1 and 3 have one name. */
                                     "INSERT INTO owner VALUES(1, 'Document', 'exact'),"
                                     " (2, 'CellBuffer::text', 'inferred'),"
                                     " (3, 'Document', 'inferred')");
    for (size_t i = 0; good && i < program->options.stacks; i++) {
        const struct fixture_stack *made = &program->stacks[i];
        int64_t site = made->frames[made->call_site];
        good = insert(
            stack, i % 50 == 49 ? "unwind end" : "complete", 5,
            (int64_t[]){(int64_t)i + 1, made->depth, site, (site - 1) / FIXTURE_LINES + 1}, 4);
        for (uint32_t depth = 0; good && depth < made->depth; depth++)
            good =
                insert(frame, NULL, 0, (int64_t[]){(int64_t)i + 1, depth, made->frames[depth]}, 3);
    }
    sqlite3_finalize(stack);
    sqlite3_finalize(frame);
    return good && run_sql(database, FIXTURE_NODES("main"));
}

static bool write_rest(sqlite3 *database, const struct fixture_program *program)
{
    sqlite3_stmt *thread =
        prepare(database, "INSERT INTO thread(id, name, tid, start_ns, end_ns, process_id)"
                          " VALUES(?1, ?2, ?3, ?4, ?5, CASE WHEN ?1 < 3 THEN 1 ELSE 2 END)");
    sqlite3_stmt *mark =
        prepare(database, "INSERT INTO mark(id, name, ns, kind) VALUES(?, ?, ?, 'mark')");
    sqlite3_stmt *rss = prepare(database, "INSERT INTO rss(ns, bytes) VALUES(?, ?)");
    bool good = run_sql(database,
                        "INSERT INTO arena(id, name) VALUES(0, 'heap');"
                        "INSERT INTO process(id, pid, parent_pid, program, argv, start_ns, end_ns,"
                        "  ending, trace, allocations, frees, bytes, live_count, live_bytes,"
                        "  peak_bytes, peak_ns, host, boot_id, trace_id, parent_trace_id) VALUES"
                        "(1,4711,1,'/opt/server','server',0,0,'ended','a',0,0,0,0,0,0,0,'','',1,0),"
                        "(2,4800,4711,'helper','helper',0,0,'ended','b',0,0,0,0,0,0,0,'','',2,0);"
                        "INSERT INTO type(id,name,size,confidence) "
                        "VALUES(1,'Request',64,'exact'),(2,'Header',32,'exact'),"
                        "(3,'Node',48,'exact'),(4,'Table',256,'inferred'),(5,'char',1,'inferred'),"
                        "(6,'Image',1024,'exact'),(7,'Session',512,'inferred'),"
                        "(8,'Token',16,'candidate'),(9,'std::vector<Node>',24,'exact');"
                        "INSERT INTO type_member(type_id,position,name,offset,size,type) VALUES"
                        "(3,0,NULL,0,16,'store::Linked'),(3,1,'key',16,4,'int'),"
                        "(3,2,'value',24,16,'std::pair<Token *, int>'),(3,3,'dirty',40,1,'bool'),"
                        "(1,0,'id',0,8,'long'),(1,1,'header',8,32,'Header'),"
                        "(1,2,'body',40,24,'std::vector<char>')");
    char name[64];
    for (int64_t id = 1; good && id <= (int64_t)program->options.threads; id++) {
        snprintf(name, sizeof(name), id == 1 ? "main" : "worker %d", (int)id - 1);
        good =
            insert(thread, name, 2,
                   (int64_t[]){id, 4710 + id, (id - 1) * 1000, (int64_t)program->duration_ns}, 4);
    }
    static const char *const phases[FIXTURE_PHASES] = {"start up", "load", "serve", "reload",
                                                       "shut down"};
    for (int i = 0; good && i < FIXTURE_PHASES; i++)
        good = insert(mark, phases[i], 2, (int64_t[]){i + 1, (int64_t)program->phase_ns[i]}, 2);
    int64_t duration = (int64_t)program->duration_ns;
    int64_t peak = (int64_t)program->peak_bytes;
    for (int64_t i = 0; good && i < 200; i++)
        good =
            insert(rss, NULL, 0,
                   (int64_t[]){duration / 200 * i, 4194304 + peak / 200 * (i < 120 ? i : 120)}, 2);
    sqlite3_finalize(thread);
    sqlite3_finalize(mark);
    sqlite3_finalize(rss);
    return good;
}

static void column_values(const struct fixture_program *program,
                          const struct fixture_allocation *row, uint64_t *values)
{
    bool live = row->free_ns == FIXTURE_LIVE;
    values[COLUMN_ADDRESS] = row->address;
    values[COLUMN_SIZE] = row->size;
    values[COLUMN_ALLOC_NS] = row->alloc_ns;
    values[COLUMN_LIFE_NS] = live ? 0 : row->free_ns - row->alloc_ns + 1;
    values[COLUMN_STACK] = row->stack;
    values[COLUMN_THREAD] = row->thread;
    values[COLUMN_FREE_THREAD] = row->free_thread;
    values[COLUMN_KIND] = row->kind;
    values[COLUMN_TYPE] = row->type;
    values[COLUMN_ARENA] = 0;
    values[COLUMN_COUNT_OF_OBJECTS] = row->count;
    values[COLUMN_ALIGNMENT] = row->alignment;
    values[COLUMN_REALLOC_OF] =
        row->realloc_of == 0 ? 0 : program->allocations[row->realloc_of - 1].id;
    values[COLUMN_FREE_STACK] = row->free_stack;
}

static bool write_rows(sqlite3 *database, const struct fixture_program *program)
{
    sqlite3_stmt *statement = prepare(
        database,
        "INSERT INTO allocation(id, whole_address, size, count, kind, alignment, arena_id,"
        " thread_id, stack_id, type_id, alloc_ns, lived_ns, freed_by_id, free_stack_id, realloc_of)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bool good = true;
    for (size_t i = 0; good && i < program->count; i++) {
        const struct fixture_allocation *row = &program->allocations[program->by_id[i]];
        uint64_t value[COLUMN_TOTAL];
        column_values(program, row, value);
        bool live = row->free_ns == FIXTURE_LIVE;
        good = insert(
            statement, NULL, 0,
            (int64_t[]){(int64_t)i + 1, (int64_t)row->address, (int64_t)row->size, row->count,
                        row->kind, row->alignment, 0, row->thread, row->stack, row->type,
                        (int64_t)row->alloc_ns,
                        live ? INT64_MIN : (int64_t)(row->free_ns - row->alloc_ns),
                        live ? INT64_MIN : row->free_thread,
                        row->free_stack == 0 ? INT64_MIN : row->free_stack,
                        row->realloc_of == 0 ? INT64_MIN : (int64_t)value[COLUMN_REALLOC_OF]},
            15);
    }
    sqlite3_finalize(statement);
    return good;
}

static bool write_chunks(sqlite3 *database, const struct fixture_program *program)
{
    sqlite3_stmt *statement =
        prepare(database, "INSERT INTO column_chunk VALUES(?, ?, ?, ?, ?, ?)");
    uint64_t(*values)[COLUMN_CHUNK_ROWS] = malloc(COLUMN_TOTAL * sizeof(*values));
    uint8_t *data = malloc(column_data_most(COLUMN_CHUNK_ROWS));
    bool good = values && data;
    for (size_t first = 0; good && first < program->count; first += COLUMN_CHUNK_ROWS) {
        size_t rows = program->count - first;
        rows = rows < COLUMN_CHUNK_ROWS ? rows : COLUMN_CHUNK_ROWS;
        for (size_t i = 0; i < rows; i++) {
            uint64_t row[COLUMN_TOTAL];
            column_values(program, &program->allocations[program->by_id[first + i]], row);
            for (int column = 0; column < COLUMN_TOTAL; column++)
                values[column][i] = row[column];
        }
        for (int column = 0; good && column < COLUMN_TOTAL; column++) {
            uint64_t min = UINT64_MAX;
            uint64_t max = 0;
            for (size_t i = 0; i < rows; i++) {
                min = values[column][i] < min ? values[column][i] : min;
                max = values[column][i] > max ? values[column][i] : max;
            }
            const uint64_t *life = column == COLUMN_ALLOC_NS ? values[COLUMN_LIFE_NS] : NULL;
            const unsigned width = column_width(max - min);
            const size_t length = min < max ? column_pack(data, values[column], life, rows) : 0;
            sqlite3_bind_blob(statement, 6, data, (int)length, SQLITE_STATIC);
            int64_t id = (int64_t)(first / COLUMN_CHUNK_ROWS) * COLUMN_ID_STRIDE + column;
            good = insert(statement, NULL, 0,
                          (int64_t[]){id, (int64_t)rows, width, (int64_t)min, (int64_t)max}, 5);
        }
    }
    free(values);
    free(data);
    sqlite3_finalize(statement);
    return good;
}

bool fixture_write(const char *path, const struct fixture_options *options)
{
    struct fixture_program program;
    sqlite3 *database;
    if (!fixture_program_make(&program, options)) {
        fprintf(stderr, "fixture: no memory, or options out of range\n");
        fixture_program_free(&program);
        return false;
    }
    unlink(path);
    bool good = check(NULL, sqlite3_open(path, &database), path) && load_schema(database) &&
                write_meta(database, &program) && write_code(database, &program) &&
                write_stacks(database, &program) && write_rest(database, &program) &&
                write_rows(database, &program) && write_chunks(database, &program) &&
                run_sql(database, "COMMIT");
    sqlite3_close(database);
    fixture_program_free(&program);
    return good;
}

bool fixture_sql(const char *path, const char *sql)
{
    sqlite3 *database;
    bool good = check(NULL, sqlite3_open(path, &database), path) && run_sql(database, sql);
    sqlite3_close(database);
    return good;
}

bool fixture_sample_all(const char *path)
{
    return fixture_sql(path,
                       "INSERT INTO sample_chunk SELECT * FROM column_chunk;"
                       "UPDATE sample_chunk SET width = 0, min = 65536, max = 65536, data = x'' "
                       "WHERE id % 32 = 12");
}
