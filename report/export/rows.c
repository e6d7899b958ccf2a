/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/rows.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"
#include "report/export/parquet.h"
#include "report/output/json.h"
#include "report/output/names.h"
#include "report/output/output.h"
#include "schemas/hash.h"
#include "schemas/printable.h"
#include "session/stored_tables.h"
#include "session/time.h"

/* ---- writing rows ---- */

void rows_begin(struct row_writer *rows, FILE *out, bool ndjson, const char *const *names,
                size_t count)
{
    *rows = (struct row_writer){.out = out, .names = names, .count = count, .ndjson = ndjson};
    for (size_t i = 0; !ndjson && i < count; i++)
        fprintf(out, "%s%c", names[i], i + 1 < count ? ',' : '\n');
}

/* Begins a value. Returns the object that it is a member of, NULL for CSV. */
static struct json *begin_value(struct row_writer *rows)
{
    if (!rows->ndjson)
        return NULL;
    if (rows->next == 0) {
        rows->json = json_begin(rows->out, false);
        if (rows->json)
            json_put(rows->json, "{");
        else
            rows->failed = true;
    }
    if (rows->json)
        json_put(rows->json, "%s:", rows->names[rows->next]);
    return rows->json;
}

static void end_value(struct row_writer *rows)
{
    const bool last = ++rows->next == rows->count;
    if (!rows->ndjson)
        fputc(last ? '\n' : ',', rows->out);
    if (!last)
        return;
    rows->next = 0;
    if (rows->json) {
        json_put(rows->json, "}");
        if (!json_end(rows->json))
            rows->failed = true;
        rows->json = NULL;
    }
}

/* Returns true if the next value goes into a Parquet file. Before the first one of a row come those
 * that all rows have. */
static bool begin_parquet(struct row_writer *rows)
{
    if (!rows->parquet)
        return false;
    for (size_t i = 0; rows->next == 0 && i < rows->constant_count; i++)
        parquet_put_text(rows->parquet, rows->constants[i]);
    rows->next = (rows->next + 1) % rows->count;
    return true;
}

/* Writes the next value by one of these statements; the last one of a row ends the line. */
#define PUT_VALUE(rows, in_parquet, in_json, in_csv)                                               \
    if (begin_parquet(rows)) {                                                                     \
        (in_parquet);                                                                              \
    } else {                                                                                       \
        struct json *const json = begin_value(rows);                                               \
        if (json)                                                                                  \
            (in_json);                                                                             \
        else if (!(rows)->ndjson)                                                                  \
            (in_csv);                                                                              \
        end_value(rows);                                                                           \
    }

/* A text of NULL is null. */
static void rows_text(void *file, const char *text)
{
    struct row_writer *rows = file;
    PUT_VALUE(rows, parquet_put_text(rows->parquet, text), json_text(json, text),
              text ? name_put_csv(rows->out, text) : (void)0)
}

static void rows_number(void *file, uint64_t number)
{
    struct row_writer *rows = file;
    PUT_VALUE(rows,
              number <= INT64_MAX ? parquet_put_integer(rows->parquet, (int64_t)number)
                                  : parquet_put_text(rows->parquet, NULL),
              json_number(json, number), fprintf(rows->out, "%" PRIu64, number))
}

void rows_signed(struct row_writer *rows, int64_t number)
{
    PUT_VALUE(rows, parquet_put_integer(rows->parquet, number), json_signed(json, number),
              fprintf(rows->out, "%" PRId64, number))
}

static void rows_real(struct row_writer *rows, double number)
{
    PUT_VALUE(rows, parquet_put_real(rows->parquet, number), json_precise(json, number),
              fprintf(rows->out, "%.17g", number))
}

static void rows_truth(void *file, bool truth)
{
    struct row_writer *rows = file;
    PUT_VALUE(rows, parquet_put_truth(rows->parquet, truth), json_truth(json, truth),
              fputs(truth ? "true" : "false", rows->out))
}

static void rows_null(struct row_writer *rows)
{
    rows_text(rows, NULL);
}

/* ---- the rows of a filter ---- */

/* A file of a filter's rows. Those of Parquet say whose they are. */
struct filtered {
    struct row_writer rows;
    const char *constants[3 + EXPORT_LABELS_MOST];
    char *names[EXPORT_LABELS_MOST]; /* of the labels' columns */
    size_t named;
    char session[PRINTABLE_BYTE_MAX * NAME_MAX + 1];
};

/* Writes the name of the session's file without folder and .db, as a terminal may have it. */
static void name_session(const struct export *export, char *name, size_t size)
{
    const char *file = basename(session_path(export->own.session));
    printable_copy(name, size, file);
    char *dot = strrchr(name, '.');
    if (dot && dot > name && strcmp(dot, ".db") == 0)
        *dot = '\0';
}

/* Begins the file. `types` are those of the columns in Parquet, which also has the session, its
 * host, its start and its labels. Returns false with the error set. end_filtered() in any case. */
static bool begin_filtered(struct filtered *file, const struct export *export, enum table_form form,
                           const char *const *names, const enum parquet_type *types, size_t count)
{
    const char *const facts[] = {"session", "host", "start_time"};
    struct parquet_column columns[3 + EXPORT_LABELS_MOST + SESSION_GROUP_COLUMNS_MOST];
    size_t total = 0;
    rows_begin(&file->rows, export->out, form == TABLES_NDJSON, names,
               form == TABLES_PARQUET ? 0 : count);
    file->named = 0;
    if (form != TABLES_PARQUET)
        return true;
    name_session(export, file->session, sizeof(file->session));
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        file->constants[total] =
            i == 0 ? file->session : session_meta(export->own.session, facts[i]);
        columns[total++] = (struct parquet_column){facts[i], PARQUET_TEXT, false};
    }
    for (; file->named < export->label_count; file->named++) {
        const struct export_label *label = &export->labels[file->named];
        if (asprintf(&file->names[file->named], "label.%s", label->key) < 0)
            return report_fail_memory(export->error, "a name");
        file->constants[total] = label->text;
        columns[total++] = (struct parquet_column){file->names[file->named], PARQUET_TEXT, false};
    }
    file->rows.constants = file->constants;
    file->rows.constant_count = total;
    file->rows.count = count;
    for (size_t i = 0; i < count; i++)
        columns[total++] = (struct parquet_column){names[i], types[i], false};
    file->rows.parquet = parquet_begin(export->out, columns, total);
    return file->rows.parquet || report_fail_memory(export->error, "a row");
}

/* Ends it. `good`: so far. */
static bool end_filtered(struct filtered *file, const struct export *export, bool good)
{
    file->rows.failed |= !parquet_end(file->rows.parquet);
    for (size_t i = 0; i < file->named; i++)
        free(file->names[i]);
    return good && (!file->rows.failed || report_fail_memory(export->error, "a row"));
}

/* ---- allocations ---- */

/* The place of a stack's call site. */
struct site {
    bool known;
    const char *file, *module;
    uint32_t line;
};

struct listing {
    const struct export *export;
    struct session *session;
    struct row_writer *rows;
    int change;         /* the first value of each row; 0: none */
    struct site *sites; /* by stack */
    const struct session_arena *arenas;
    size_t arena_count;
};

static const char *const allocation_columns[] = {
    "change",   "id",          "address",  "size",     "count",    "kind",          "alignment",
    "alloc_ns", "free_ns",     "type",     "function", "file",     "line",          "module",
    "thread",   "free_thread", "freed_by", "arena",    "stack_id", "free_stack_id", "realloc_of",
};
enum { ALLOCATION_COLUMNS = sizeof(allocation_columns) / sizeof(*allocation_columns) };
static const enum parquet_type allocation_types[ALLOCATION_COLUMNS] = {
    [5] = PARQUET_TEXT,  [9] = PARQUET_TEXT,  [10] = PARQUET_TEXT,
    [11] = PARQUET_TEXT, [13] = PARQUET_TEXT, [14] = PARQUET_TEXT,
    [15] = PARQUET_TEXT, [16] = PARQUET_TEXT, [17] = PARQUET_TEXT, /* the others are integers */
};

static const struct site *find_site(const struct listing *listing, uint32_t stack)
{
    struct session *session = listing->session;
    struct site *site = &listing->sites[stack];
    uint32_t id;
    struct session_code_frame frame;
    struct session_module module;
    if (site->known)
        return site;
    if (!session_stack_site_frame(session, stack, &id, listing->export->error))
        return NULL;
    *site = (struct site){.known = true};
    if (id == 0)
        return site;
    if (!session_code_frame(session, id, &frame, listing->export->error) ||
        (frame.module != 0 &&
         !session_module(session, frame.module, &module, listing->export->error)))
        return NULL;
    site->file = frame.file[0] ? frame.file : NULL;
    site->line = frame.line;
    site->module = frame.module != 0 ? module.name : NULL;
    return site;
}

static void put_id(struct row_writer *rows, uint64_t id)
{
    if (id != 0)
        rows_number(rows, id);
    else
        rows_null(rows);
}

static const char *arena_name(const struct listing *listing, uint32_t arena)
{
    for (size_t i = 0; i < listing->arena_count; i++)
        if (listing->arenas[i].id == arena)
            return listing->arenas[i].name;
    return NULL;
}

static bool put_allocation(void *context, const struct session_event *event)
{
    struct listing *listing = context;
    const struct session *session = listing->session;
    const struct session_allocation *block = event->allocation;
    struct row_writer *rows = listing->rows;
    if (event->kind != SESSION_EVENT_ALLOC)
        return true;
    const struct site *site = find_site(listing, block->stack);
    if (!site)
        return false;
    if (listing->change != 0)
        rows_signed(rows, listing->change);
    rows_number(rows, block->id);
    rows_number(rows, block->address);
    rows_number(rows, block->size);
    rows_number(rows, block->count);
    rows_text(rows, session_kind_name(session, block->kind));
    rows_number(rows, block->alignment);
    rows_number(rows, block->alloc_ns);
    if (block->free_ns != SESSION_LIVE)
        rows_number(rows, block->free_ns);
    else
        rows_null(rows);
    rows_text(rows, block->type != 0 ? session_type_name(session, block->type) : NULL);
    rows_text(rows, block->function != 0 ? session_function_name(session, block->function) : NULL);
    rows_text(rows, site->file);
    put_id(rows, site->line);
    rows_text(rows, site->module);
    rows_text(rows, session_thread_name(session, block->thread));
    rows_text(rows,
              block->free_thread != 0 ? session_thread_name(session, block->free_thread) : NULL);
    rows_text(rows, block->free_ns == SESSION_LIVE                           ? NULL
                    : session_stack_by_collector(session, block->free_stack) ? "collector"
                                                                             : "program");
    rows_text(rows, arena_name(listing, block->arena));
    put_id(rows, block->stack);
    put_id(rows, block->free_stack);
    put_id(rows, block->realloc_of);
    return !rows->failed || report_fail_memory(listing->export->error, "a row");
}

void rows_begin_allocations(struct row_writer *rows, const struct export *export, bool ndjson,
                            bool change)
{
    const size_t first = change ? 0 : 1;
    rows_begin(rows, export->out, ndjson, allocation_columns + first, ALLOCATION_COLUMNS - first);
}

bool rows_put_allocations(struct row_writer *rows, const struct export *export,
                          struct session *session, struct selection *selection, int change)
{
    struct listing listing = {
        .export = export,
        .session = session,
        .rows = rows,
        .change = change,
        .sites = calloc((size_t)session_stack_largest(session) + 1, sizeof(*listing.sites))};
    const bool good =
        (listing.sites || report_fail_memory(export->error, "the call sites")) &&
        session_arenas(session, &listing.arenas, &listing.arena_count, export->error) &&
        selection_events(selection, put_allocation, &listing, export->error);
    free(listing.sites);
    return good;
}

/* ---- groups ---- */

static const struct session_group_writer group_writer = {rows_text, rows_number, rows_truth};

void rows_put_key(struct row_writer *rows, const struct session_group_set *set, size_t row,
                  size_t key)
{
    if (!session_group_put_key(set, row, key, &group_writer, rows))
        rows->failed = true;
}

static bool put_groups(const struct export *export, struct session_group_set *set,
                       enum table_form form)
{
    struct session_key_column columns[SESSION_GROUP_COLUMNS_MOST];
    const char *names[SESSION_GROUP_COLUMNS_MOST] = {NULL};
    enum parquet_type types[SESSION_GROUP_COLUMNS_MOST];
    struct filtered file;
    const size_t count = session_group_columns(set, columns);
    for (size_t i = 0; i < count; i++) {
        const enum session_key_type type = columns[i].type;
        names[i] = columns[i].name;
        types[i] = type == KEY_TRUTH                                              ? PARQUET_TRUTH
                   : type == KEY_NUMBER || type == KEY_BYTES || type == KEY_COLOR ? PARQUET_INTEGER
                                                                                  : PARQUET_TEXT;
    }
    if (!session_groups_prepare(set, (1u << MEASURE_TOTAL) - 1, export->error))
        return false;
    bool good = begin_filtered(&file, export, form, names, types, count);
    for (size_t row = 0; good && row < session_groups_count(set); row++)
        good = session_group_put(set, row, &group_writer, &file.rows, export->error);
    return end_filtered(&file, export, good);
}

static bool put_measure(const struct export *export, const struct session_measure *measure,
                        enum table_form form)
{
    static const char *const units[] = {"number", "bytes", "ns", "ns since the start"};
    static const char *const names[] = {"measure", "unit", "value", "estimated", "standard_error"};
    static const enum parquet_type types[] = {PARQUET_TEXT, PARQUET_TEXT, PARQUET_INTEGER,
                                              PARQUET_TRUTH, PARQUET_REAL};
    struct filtered file;
    struct row_writer *rows = &file.rows;
    if (!begin_filtered(&file, export, form, names, types, sizeof(names) / sizeof(*names)))
        return end_filtered(&file, export, false);
    rows_text(rows, measure->name);
    rows_text(rows, units[measure->unit]);
    if (measure->is_null)
        rows_null(rows);
    else if (measure->negative)
        rows_signed(rows, -(int64_t)measure->value);
    else
        rows_number(rows, measure->value);
    rows_truth(rows, measure->estimated);
    if (measure->estimated && measure->standard_error >= 0)
        rows_real(rows, measure->standard_error);
    else
        rows_null(rows);
    return end_filtered(&file, export, true);
}

static bool put_allocations(const struct export *export, struct selection *selection,
                            enum table_form form)
{
    struct filtered file;
    const bool good = begin_filtered(&file, export, form, allocation_columns + 1,
                                     allocation_types + 1, ALLOCATION_COLUMNS - 1) &&
                      rows_put_allocations(&file.rows, export, export->own.session, selection, 0);
    return end_filtered(&file, export, good);
}

static bool put_rows(struct export *export, enum table_form form)
{
    if (export->tables)
        return export_tables(export, form);
    struct graph_result *result = graph_run(export->own.session, export->filter, export->error);
    if (!result)
        return false;
    const struct session_warning *warnings;
    const size_t warning_count = graph_result_warnings(result, &warnings);
    for (size_t i = 0; i < warning_count; i++)
        say("mprof-export", "--filter: %s", warnings[i].message);
    bool good = true;
    if (export->base.session)
        good = rows_put_difference(export, result, form == TABLES_NDJSON);
    else if (graph_result_kind(result) == RESULT_ALLOCATIONS)
        good = put_allocations(export, graph_result_selection(result), form);
    else if (graph_result_kind(result) == RESULT_GROUPS)
        good = put_groups(export, graph_result_groups(result), form);
    else
        good = put_measure(export, graph_result_measure(result), form);
    graph_result_free(result);
    return good;
}

bool export_csv(struct export *export)
{
    return put_rows(export, TABLES_CSV);
}

bool export_ndjson(struct export *export)
{
    return put_rows(export, TABLES_NDJSON);
}

bool export_parquet(struct export *export)
{
    return put_rows(export, TABLES_PARQUET);
}

/* ---- all tables ---- */

/* They have the columns of docs/session-schema.md, and before them `session`: the name of the
 * session's file without .db. So one database may hold many sessions. `meta` also has the labels,
 * and what tells this session from another one of its name. */

enum { TABLE_COLUMNS_MOST = 80 };

struct folder {
    const struct export *export;
    char session[PRINTABLE_BYTE_MAX * NAME_MAX + 1];
    enum table_form form;
    uint64_t id;     /* the hash of what its processes did */
    char *partition; /* of Parquet: "service=…/day=…" */
};

struct writing {
    const struct stored_table *table;
    struct row_writer rows;
    const char *session;
};

static bool put_row(void *context, const char *const *values)
{
    struct writing *writing = context;
    struct row_writer *rows = &writing->rows;
    /* put_more_meta() has the labels. */
    if (strcmp(writing->table->name, "meta") == 0 && values[0] &&
        strncmp(values[0], "label.", 6) == 0)
        return true;
    rows_text(rows, writing->session);
    for (size_t i = 0; i < writing->table->count; i++) {
        const enum stored_type type = writing->table->columns[i].type;
        if (!values[i] || type == STORED_TEXT)
            rows_text(rows, values[i]);
        else if (type == STORED_INTEGER)
            rows_signed(rows, strtoll(values[i], NULL, 10));
        else
            rows_real(rows, strtod(values[i], NULL));
    }
    return !rows->failed;
}

struct identity {
    const struct stored_table *table;
    uint64_t hash;
};

/* Adds what ingest cannot change: the trace, and how much the process allocated and freed. */
static bool add_identity(void *context, const char *const *values)
{
    static const char *const facts[] = {"trace_id", "pid", "allocations", "frees", "bytes"};
    struct identity *identity = context;
    for (size_t i = 0; i < identity->table->count; i++)
        for (size_t fact = 0; fact < sizeof(facts) / sizeof(*facts); fact++)
            if (strcmp(identity->table->columns[i].name, facts[fact]) == 0 && values[i])
                identity->hash = hash_combine(identity->hash, text_hash(values[i]));
    return true;
}

static bool identify(struct folder *folder, const struct stored_table *tables, size_t count)
{
    const struct export *export = folder->export;
    struct identity identity = {.hash = 0};
    for (size_t i = 0; i < count; i++)
        if (strcmp(tables[i].name, "process") == 0)
            identity.table = &tables[i];
    if (identity.table && !session_stored_rows(export->own.session, identity.table, add_identity,
                                               &identity, export->error))
        return false;
    folder->id = identity.hash;
    return true;
}

static void put_meta(struct row_writer *rows, const char *session, const char *key,
                     const char *value)
{
    rows_text(rows, session);
    rows_text(rows, key);
    rows_text(rows, value);
}

/* Adds the rows of `meta` that the session does not have. */
static bool put_more_meta(struct row_writer *rows, const struct folder *folder)
{
    char id[20];
    snprintf(id, sizeof(id), "%016" PRIx64, folder->id);
    put_meta(rows, folder->session, "session_id", id);
    for (size_t i = 0; i < folder->export->label_count; i++) {
        char *key;
        if (asprintf(&key, "label.%s", folder->export->labels[i].key) < 0)
            return false;
        put_meta(rows, folder->session, key, folder->export->labels[i].text);
        free(key);
    }
    return true;
}

/* Writes the value of a partition: other bytes than letters and digits as %20. */
static void put_partition_value(FILE *out, const char *text)
{
    if (!text || !*text) /* the name that Hive gives to NULL */
        text = "__HIVE_DEFAULT_PARTITION__";
    for (; *text; text++)
        name_put_percent(out, *text, isalnum((unsigned char)*text) || strchr("_-.", *text));
}

/* Finds the folders of Parquet: the label `service`, and the day on which the program began. */
static bool find_partition(struct folder *folder)
{
    const struct export *export = folder->export;
    const char *service = NULL, *start = session_meta(export->own.session, "start_time");
    char day[11];
    size_t size = 0;
    for (size_t i = 0; i < export->label_count; i++)
        if (strcmp(export->labels[i].key, "service") == 0)
            service = export->labels[i].text;
    snprintf(day, sizeof(day), "%s", start ? start : "");
    FILE *out = open_memstream(&folder->partition, &size);
    if (out) {
        fputs("service=", out);
        put_partition_value(out, service);
        fputs("/day=", out);
        put_partition_value(out, day);
        fclose(out);
    }
    return folder->partition || report_fail_memory(export->error, "a name");
}

/* Returns the path of a table or a script, which the caller frees; NULL with the error set. */
static char *path_of(const struct folder *folder, const char *name, bool table)
{
    static const char *const suffixes[] = {".csv", ".ndjson", ".parquet"};
    char *path;
    const int length = table && folder->form == TABLES_PARQUET
                           ? asprintf(&path, "%s/%s/%s/%s.parquet", folder->export->tables, name,
                                      folder->partition, folder->session)
                           : asprintf(&path, "%s/%s%s", folder->export->tables, name,
                                      table ? suffixes[folder->form] : "");
    if (length >= 0)
        return path;
    report_fail_memory(folder->export->error, "a name");
    return NULL;
}

/* Makes the folders of a file below that of --tables. */
static bool make_folders(const struct folder *folder, char *path)
{
    bool good = true;
    for (char *c = path + strlen(folder->export->tables) + 1; good && (c = strchr(c, '/')); c++) {
        *c = '\0';
        good =
            mkdir(path, 0777) == 0 || errno == EEXIST ||
            report_fail(folder->export->error, "%.300s: cannot be made: %s", path, strerror(errno));
        *c = '/';
    }
    return good;
}

/* Removes the folders of a file that have nothing in them. */
static void remove_folders(const struct folder *folder, const char *name)
{
    char *path = path_of(folder, name, true), *slash;
    const size_t least = strlen(folder->export->tables);
    while (path && (slash = strrchr(path, '/')) && (size_t)(slash - path) > least) {
        *slash = '\0';
        rmdir(path);
    }
    free(path);
}

/* Opens a file of the folder. Returns NULL with the error set. */
static struct output *open_file(const struct folder *folder, const char *name, bool table)
{
    char *path = path_of(folder, name, table);
    struct output *output =
        path && make_folders(folder, path) ? output_open(path, folder->export->error) : NULL;
    free(path);
    return output;
}

/* Begins the rows of a table. */
static bool begin_table(const struct folder *folder, struct writing *writing, FILE *out,
                        const char **names)
{
    const struct stored_table *table = writing->table;
    struct parquet_column columns[TABLE_COLUMNS_MOST] = {{"session", PARQUET_TEXT, true}};
    static const enum parquet_type types[] = {PARQUET_INTEGER, PARQUET_REAL, PARQUET_TEXT};
    for (size_t i = 0; i < table->count; i++) {
        names[i + 1] = table->columns[i].name;
        columns[i + 1] = (struct parquet_column){names[i + 1], types[table->columns[i].type],
                                                 table->columns[i].required};
    }
    if (folder->form != TABLES_PARQUET) {
        rows_begin(&writing->rows, out, folder->form == TABLES_NDJSON, names, table->count + 1);
        return true;
    }
    writing->rows.count = table->count + 1;
    writing->rows.parquet = parquet_begin(out, columns, table->count + 1);
    return writing->rows.parquet || report_fail_memory(folder->export->error, "a table");
}

static struct output *put_table(const struct folder *folder, const struct stored_table *table)
{
    const struct export *export = folder->export;
    const char *names[TABLE_COLUMNS_MOST] = {"session"};
    struct writing writing = {.table = table, .session = folder->session};
    struct output *output = open_file(folder, table->name, true);
    if (!output)
        return NULL;
    bool good = begin_table(folder, &writing, output_stream(output), names) &&
                session_stored_rows(export->own.session, table, put_row, &writing, export->error);
    if (good && strcmp(table->name, "meta") == 0)
        writing.rows.failed |= !put_more_meta(&writing.rows, folder);
    writing.rows.failed |= !parquet_end(writing.rows.parquet);
    if (good && writing.rows.failed)
        good = report_fail_memory(export->error, "a row");
    if (good && output_finish(output, export->error))
        return output;
    output_discard(output);
    return NULL;
}

/* ---- scripts ---- */

enum dialect { POSTGRESQL, DUCKDB, CLICKHOUSE, DIALECTS };

#define ANOTHER_SESSION "another session of this name is loaded: rename the file"
/* An error if there are such rows. */
#define REFUSE_ANOTHER "SELECT CAST(max('" ANOTHER_SESSION "') AS integer) FROM meta\n"

static const struct {
    const char *file, *about;
    const char *types[3];           /* by stored_type */
    const char *begin, *made, *end; /* before and after the definitions, and after the rows */
    const char *refuse; /* before the rows: the condition on another session of that name follows */
} dialects[DIALECTS] = {
    [POSTGRESQL] = {"load.postgresql.sql",
                    "-- Loads the tables into PostgreSQL 15 or newer: cd into this folder, then\n"
                    "-- psql -f load.postgresql.sql\n",
                    {"bigint", "double precision", "text"},
                    "\\set ON_ERROR_STOP on\n\\o /dev/null\nSET client_min_messages = warning;\n"
                    "BEGIN;\nSELECT pg_advisory_xact_lock(hashtextextended('mprof tables', 0));\n",
                    "COMMIT;\nBEGIN;\n",
                    "COMMIT;\nANALYZE;\n",
                    REFUSE_ANOTHER},
    [DUCKDB] = {"load.duckdb.sql",
                "-- Loads the tables into DuckDB: cd into this folder, then\n"
                "-- duckdb -bail sessions.duckdb -c '.read load.duckdb.sql'\n",
                {"BIGINT", "DOUBLE", "VARCHAR"},
                "BEGIN TRANSACTION;\n",
                "",
                "COMMIT;\nANALYZE;\n",
                REFUSE_ANOTHER},
    [CLICKHOUSE] =
        {"load.clickhouse.sql",
         "-- Loads the tables into ClickHouse: cd into this folder, then\n"
         "-- clickhouse-client --queries-file load.clickhouse.sql\n"
         "-- ClickHouse has no transactions: if this ends early, run it again, and do\n"
         "-- not run it twice at once. No ANALYZE ends it: ClickHouse has none. It plans\n"
         "-- by the order of a table and by the index and the row counts of INSERT.\n",
         {"Int64", "Float64", "String"},
         "",
         "",
         "",
         "SELECT throwIf(count() > 0, '" ANOTHER_SESSION "') FROM meta\n"},
};

/* Returns true if PostgreSQL can keep the key unique: an index has no room for long texts. */
static bool has_plain_key(const struct stored_table *table)
{
    bool key = false;
    for (size_t i = 0; i < table->count; i++) {
        if (table->columns[i].key && table->columns[i].type == STORED_TEXT)
            return false;
        key |= table->columns[i].key;
    }
    return key;
}

static void put_keys(FILE *out, const struct stored_table *table)
{
    fputs("session", out);
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].key)
            fprintf(out, ", \"%s\"", table->columns[i].name);
}

static void put_definition(FILE *out, const struct stored_table *table, enum dialect dialect)
{
    fprintf(out, "CREATE TABLE IF NOT EXISTS \"%s\" (\n  session %s%s", table->name,
            dialects[dialect].types[STORED_TEXT], dialect == CLICKHOUSE ? "" : " NOT NULL");
    for (size_t i = 0; i < table->count; i++) {
        const struct stored_column *column = &table->columns[i];
        const char *type = dialects[dialect].types[column->type];
        if (dialect == CLICKHOUSE && !column->required)
            fprintf(out, ",\n  \"%s\" Nullable(%s)", column->name, type);
        else
            fprintf(out, ",\n  \"%s\" %s%s", column->name, type,
                    dialect != CLICKHOUSE && column->required ? " NOT NULL" : "");
    }
    if (dialect == POSTGRESQL && has_plain_key(table)) {
        fputs(",\n  PRIMARY KEY (", out);
        put_keys(out, table);
        fputc(')', out);
    }
    fputs("\n)", out);
    if (dialect == CLICKHOUSE) {
        fputs(" ENGINE = MergeTree ORDER BY (", out);
        put_keys(out, table);
        fputc(')', out);
    }
    fputs(";\n", out);
    if (dialect == POSTGRESQL && !has_plain_key(table))
        fprintf(out, "CREATE INDEX IF NOT EXISTS \"%s_session\" ON \"%s\" (session);\n",
                table->name, table->name);
}

/* Writes the files of a table with its types for ClickHouse, which would guess them. */
static void put_structure(FILE *out, const struct stored_table *table)
{
    fprintf(out, "file('%s/*/*/*.parquet', Parquet, 'session String", table->name);
    for (size_t i = 0; i < table->count; i++) {
        const struct stored_column *column = &table->columns[i];
        fprintf(out, column->required ? ", `%s` %s" : ", `%s` Nullable(%s)", column->name,
                dialects[CLICKHOUSE].types[column->type]);
    }
    fputs("');\n", out);
}

/* PostgreSQL reads lines of JSON as text with one column: no line has a byte 1 or 2. */
static void put_postgresql_json(FILE *out, const char *name)
{
    fprintf(out,
            "CREATE TEMP TABLE line (json jsonb);\n"
            "\\copy line FROM '%s.ndjson' WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')\n"
            "INSERT INTO \"%s\" SELECT (jsonb_populate_record(NULL::\"%s\", json)).* FROM line;\n"
            "DROP TABLE line;\n",
            name, name, name);
}

static void put_load(FILE *out, const struct stored_table *table, enum dialect dialect, bool ndjson)
{
    const char *name = table->name;
    if (dialect == POSTGRESQL && ndjson)
        put_postgresql_json(out, name);
    else if (dialect == POSTGRESQL)
        fprintf(out, "\\copy \"%s\" FROM '%s.csv' WITH (FORMAT csv, HEADER match)\n", name, name);
    else if (dialect == DUCKDB && ndjson)
        fprintf(out, "COPY \"%s\" FROM '%s.ndjson' (FORMAT json, ARRAY false);\n", name, name);
    else if (dialect == DUCKDB)
        fprintf(out,
                "COPY \"%s\" FROM '%s.csv' (FORMAT csv, HEADER true, DELIMITER ',', QUOTE '\"', "
                "ESCAPE '\"', NULLSTR '', ALLOW_QUOTED_NULLS false, AUTO_DETECT false);\n",
                name, name);
    else
        fprintf(out, "INSERT INTO \"%s\" FROM INFILE '%s.%s' FORMAT %s;\n", name, name,
                ndjson ? "ndjson" : "csv", ndjson ? "JSONEachRow" : "CSVWithNames");
}

/* Returns the session's name as a literal of a database, which the caller frees; or NULL. */
static char *literal_of(const struct folder *folder, enum dialect dialect)
{
    char *literal = malloc(2 * strlen(folder->session) + 3), *at = literal;
    if (!literal)
        return NULL;
    *at++ = '\'';
    for (const char *from = folder->session; *from; from++) {
        if (*from == '\'' || (*from == '\\' && dialect == CLICKHOUSE))
            *at++ = *from;
        *at++ = *from;
    }
    memcpy(at, "\'", 2);
    return literal;
}

/* Puts what makes the tables, then what replaces this session's rows there. */
static struct output *put_script(const struct folder *folder, const struct stored_table *tables,
                                 size_t count, enum dialect dialect)
{
    char *name = literal_of(folder, dialect);
    struct output *output = name ? open_file(folder, dialects[dialect].file, false) : NULL;
    if (!name)
        report_fail_memory(folder->export->error, "a name");
    FILE *out = output ? output_stream(output) : NULL;
    if (output) {
        fputs(dialects[dialect].about, out);
        fputs(dialects[dialect].begin, out);
        for (size_t i = 0; i < count; i++)
            put_definition(out, &tables[i], dialect);
        fputs(dialects[dialect].made, out);
        if (dialect == POSTGRESQL)
            fprintf(out, "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0));\n", name);
        fprintf(out, "%sWHERE session = %s AND key = 'session_id' AND value <> '%016" PRIx64 "';\n",
                dialects[dialect].refuse, name, folder->id);
        for (size_t i = 0; i < count; i++) {
            fprintf(out, "DELETE FROM \"%s\" WHERE session = %s;\n", tables[i].name, name);
            put_load(out, &tables[i], dialect, folder->form == TABLES_NDJSON);
        }
        fputs(dialects[dialect].end, out);
    }
    free(name);
    if (output && output_finish(output, folder->export->error))
        return output;
    output_discard(output);
    return NULL;
}

/* Puts views of the Parquet files of all sessions in the folder. PostgreSQL reads no Parquet. */
static struct output *put_views(const struct folder *folder, const struct stored_table *tables,
                                size_t count, enum dialect dialect)
{
    const bool duckdb = dialect == DUCKDB;
    struct output *output =
        open_file(folder, duckdb ? "views.duckdb.sql" : "views.clickhouse.sql", false);
    FILE *out = output ? output_stream(output) : NULL;
    if (output)
        fprintf(out, "-- Makes views of the tables of all sessions in this folder. %s\n",
                duckdb ? "In this folder:\n-- duckdb -init views.duckdb.sql"
                       : "The folder is the user_files_path\n-- of the server, or the present one "
                         "of clickhouse-local");
    for (size_t i = 0; output && i < count; i++) {
        fprintf(out, "CREATE OR REPLACE VIEW \"%s\" AS SELECT * FROM ", tables[i].name);
        if (duckdb)
            fprintf(out,
                    "read_parquet('%s/*/*/*.parquet', hive_partitioning = true, "
                    "hive_types_autocast = false, union_by_name = true);\n",
                    tables[i].name);
        else
            put_structure(out, &tables[i]);
    }
    if (output && output_finish(output, folder->export->error))
        return output;
    output_discard(output);
    return NULL;
}

/* ---- the folder ---- */

/* Writes all files, and gives them their names when all are whole. */
static bool put_files(const struct folder *folder, const struct stored_table *tables, size_t count)
{
    struct session_error *error = folder->export->error;
    struct output **files = calloc(count + DIALECTS, sizeof(struct output *));
    bool good = files || report_fail_memory(error, "the files");
    for (size_t i = 0; good && i < count; i++)
        good = (files[i] = put_table(folder, &tables[i])) != NULL;
    for (size_t i = 0; good && i < DIALECTS; i++) {
        if (folder->form == TABLES_PARQUET && i == POSTGRESQL)
            continue;
        files[count + i] = (folder->form == TABLES_PARQUET ? put_views : put_script)(
            folder, tables, count, (enum dialect)i);
        good = files[count + i] != NULL;
    }
    for (size_t i = 0; files && i < count + DIALECTS; i++)
        if (good && files[i])
            good = output_close(files[i], error);
        else
            output_discard(files[i]);
    for (size_t i = 0; !good && folder->form == TABLES_PARQUET && i < count; i++)
        remove_folders(folder, tables[i].name);
    free(files);
    return good;
}

bool export_tables(const struct export *export, enum table_form form)
{
    struct folder folder = {.export = export, .form = form};
    struct stored_table *tables = NULL;
    size_t count = 0;
    name_session(export, folder.session, sizeof(folder.session));
    const bool made = mkdir(export->tables, 0777) == 0;
    bool good = made || errno == EEXIST ||
                report_fail(export->error, "%.300s: cannot be made: %s; name another folder",
                            export->tables, strerror(errno));
    good = good && find_partition(&folder) &&
           session_stored_tables(export->own.session, &tables, &count, export->error) &&
           identify(&folder, tables, count) && put_files(&folder, tables, count);
    if (made && !good)
        rmdir(export->tables);
    session_stored_tables_free(tables, count);
    free(folder.partition);
    return good;
}
