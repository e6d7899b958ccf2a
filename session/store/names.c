/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/hash.h"
#include "schemas/session_ids.h"
#include "session/store/database.h"
#include "session/store/error.h"

/* ---- string pool ---- */

enum { AREA_SIZE = 1 << 16 };

struct string_area {
    struct string_area *next;
    size_t used, size;
    char text[];
};

/* Returns a copy of `text` in the pool: "" for NULL, NULL if memory is exhausted. */
static const char *string_pool_add(struct string_pool *pool, const char *text)
{
    if (!text || text[0] == '\0')
        return "";
    size_t length = strlen(text) + 1;
    struct string_area *area = pool->areas;
    if (!area || area->size - area->used < length) {
        size_t size = length > AREA_SIZE ? length : AREA_SIZE;
        if (!(area = malloc(sizeof(*area) + size)))
            return NULL;
        *area = (struct string_area){.next = pool->areas, .size = size};
        pool->areas = area;
    }
    char *copy = area->text + area->used;
    memcpy(copy, text, length);
    area->used += length;
    return copy;
}

static void string_pool_free(struct string_pool *pool)
{
    while (pool->areas) {
        struct string_area *next = pool->areas->next;
        free(pool->areas);
        pool->areas = next;
    }
}

const char *name_table_get(const struct name_table *table, uint64_t id)
{
    return id < table->count ? table->name[id] : "?";
}

struct id_bound {
    struct database *database;
    const char *table;
    uint32_t count;
};

static bool read_id_bound(void *context, const struct database_row *row,
                          struct session_error *error)
{
    struct id_bound *bound = context;
    int64_t rows = database_number(row, 0);
    int64_t least = database_number(row, 1);
    int64_t largest = database_number(row, 2);
    if (least < 0 || !session_id_possible((uint64_t)largest, (uint64_t)rows))
        return session_fail(error, 0,
                            "%s: ids of table %s are damaged (%" PRId64 " to %" PRId64
                            " in %" PRId64 " rows); ingest the trace again",
                            database_path(bound->database), bound->table, least, largest, rows);
    bound->count = (uint32_t)largest + 1;
    return true;
}

bool names_id_bound(struct database *database, const char *table, uint32_t *count,
                    struct session_error *error)
{
    struct id_bound bound = {.database = database, .table = table};
    char sql[128];
    snprintf(sql, sizeof(sql),
             "SELECT count(*), COALESCE(min(id), 0), COALESCE(max(id), 0) FROM %s", table);
    if (!database_each(database, sql, read_id_bound, &bound, error))
        return false;
    *count = bound.count;
    return true;
}

bool names_id_check(const struct database *database, const char *table, int64_t id, uint32_t count,
                    struct session_error *error)
{
    if (id >= 0 && id < count)
        return true;
    return session_fail(error, 0,
                        "%s: table %s is damaged at id %" PRId64 "; ingest the trace again",
                        database_path(database), table, id);
}

/* The destination of the rows of one query. */
struct loading {
    struct names *names;
    struct name_table *table;
    const struct database *database;
    const char *sql_table;
};

const char *names_keep(struct names *names, const char *text, struct session_error *error)
{
    const char *kept = string_pool_add(&names->pool, text);
    if (!kept)
        session_fail_memory(error, "the session's names");
    return kept;
}

static bool read_name(void *context, const struct database_row *row, struct session_error *error)
{
    struct loading *loading = context;
    if (!names_id_check(loading->database, loading->sql_table, database_number(row, 0),
                        loading->table->count, error))
        return false;
    const char *name = names_keep(loading->names, database_text(row, 1), error);
    loading->table->name[database_number(row, 0)] = name;
    return name != NULL;
}

static bool load_table(struct names *names, struct database *database, const char *sql_table,
                       const char *column, struct name_table *table, struct session_error *error)
{
    char sql[128];
    if (!names_id_bound(database, sql_table, &table->count, error))
        return false;
    if (!(table->name = malloc(table->count * sizeof(*table->name))))
        return session_fail_memory(error, "the session's names");
    for (uint32_t id = 0; id < table->count; id++)
        table->name[id] = "?";
    struct loading loading = {
        .names = names, .table = table, .database = database, .sql_table = sql_table};
    snprintf(sql, sizeof(sql), "SELECT id, %s FROM %s", column, sql_table);
    return database_each(database, sql, read_name, &loading, error);
}

static int compare_names(const void *left, const void *right, void *context)
{
    const char *const *names = context;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int order = strcmp(names[a], names[b]);
    return order != 0 ? order : a < b ? -1 : a > b;
}

uint32_t *name_table_first(const struct name_table *table, struct session_error *error)
{
    uint32_t *first = malloc(table->count * sizeof(*first));
    uint32_t *order = malloc(table->count * sizeof(*order));
    if (!first || !order) {
        session_fail_memory(error, "names");
        FREE_ALL(first, order);
        return NULL;
    }
    for (uint32_t id = 0; id < table->count; id++)
        order[id] = id;
    /* 0 is "unknown", whatever its name. */
    qsort_r(order + 1, table->count - 1, sizeof(*order), compare_names, table->name);
    first[0] = 0;
    for (uint32_t i = 1; i < table->count; i++)
        first[order[i]] = i > 1 && strcmp(table->name[order[i]], table->name[order[i - 1]]) == 0
                              ? first[order[i - 1]]
                              : order[i];
    free(order);
    return first;
}

static bool read_confidence(void *context, const struct database_row *row,
                            struct session_error *error)
{
    struct loading *loading = context;
    struct names *names = loading->names;
    if (!names_id_check(loading->database, "type", database_number(row, 0), names->type.count,
                        error))
        return false;
    const char *confidence = names_keep(names, database_text(row, 1), error);
    names->confidence[database_number(row, 0)] = confidence;
    return confidence != NULL;
}

static bool load_modules(struct names *names, struct database *database,
                         struct session_error *error)
{
    if (!load_table(names, database, "module", "name", &names->module, error))
        return false;
    names->module_first = name_table_first(&names->module, error);
    return names->module_first != NULL;
}

static bool load_types(struct names *names, struct database *database, struct session_error *error)
{
    if (!load_table(names, database, "type", "name", &names->type, error))
        return false;
    if (!(names->confidence = malloc(names->type.count * sizeof(*names->confidence))))
        return session_fail_memory(error, "the session's types");
    for (uint32_t id = 0; id < names->type.count; id++)
        names->confidence[id] = "unknown";
    struct loading loading = {.names = names, .database = database};
    if (!database_each(database, "SELECT id, confidence FROM type", read_confidence, &loading,
                       error))
        return false;
    names->type_first = name_table_first(&names->type, error);
    return names->type_first != NULL;
}

static bool read_function(void *context, const struct database_row *row,
                          struct session_error *error)
{
    struct loading *loading = context;
    struct names *names = loading->names;
    if (!names_id_check(loading->database, "function", database_number(row, 0),
                        names->function_count, error))
        return false;
    struct name_function *function = &names->function[database_number(row, 0)];
    int64_t module = database_number(row, 2);
    int64_t file = database_number(row, 3);
    function->module = module > 0 && module < names->module.count ? (uint32_t)module : 0;
    function->file = file > 0 && file < names->file.count ? (uint32_t)file : 0;
    function->line = (uint32_t)database_number(row, 4);
    function->name = names_keep(names, database_text(row, 1), error);
    function->hash = function->name ? (uint32_t)text_hash(function->name) : 0;
    char place[256] = "";
    if (function->file != 0)
        snprintf(place, sizeof(place), "%s:%" PRIu32, basename(names->file.name[function->file]),
                 function->line);
    function->place = names_keep(names, place, error);
    return function->name && function->place;
}

static bool load_functions(struct names *names, struct database *database,
                           struct session_error *error)
{
    if (!names_id_bound(database, "function", &names->function_count, error))
        return false;
    if (!(names->function = calloc(names->function_count, sizeof(*names->function))))
        return session_fail_memory(error, "the session's functions");
    for (uint32_t id = 0; id < names->function_count; id++)
        names->function[id] =
            (struct name_function){.name = "?", .place = "", .hash = (uint32_t)text_hash("?")};
    struct loading loading = {.names = names, .database = database};
    return database_each(database, "SELECT id, name, module_id, source_file_id, line FROM function",
                         read_function, &loading, error);
}

/* Doubles a full array, at lengths 16, 32, 64, … */
static bool grow(void **items, size_t count, size_t size, struct session_error *error)
{
    if (count != 0 && (count < 16 || (count & (count - 1)) != 0))
        return true;
    void *larger = realloc(*items, (count < 16 ? 16 : count * 2) * size);
    if (!larger)
        return session_fail_memory(error, "the session's tables");
    *items = larger;
    return true;
}

static bool read_meta(void *context, const struct database_row *row, struct session_error *error)
{
    struct names *names = context;
    if (!grow((void **)&names->meta, names->meta_count, sizeof(*names->meta), error))
        return false;
    struct name_meta *meta = &names->meta[names->meta_count];
    meta->key = names_keep(names, database_text(row, 0), error);
    meta->value = names_keep(names, database_text(row, 1), error);
    names->meta_count++;
    return meta->key && meta->value;
}

static bool read_thread(void *context, const struct database_row *row, struct session_error *error)
{
    struct loading *loading = context;
    struct names *names = loading->names;
    if (!grow((void **)&names->threads, names->thread_count, sizeof(*names->threads), error))
        return false;
    struct session_thread *thread = &names->threads[names->thread_count];
    *thread = (struct session_thread){.id = (uint32_t)database_number(row, 0),
                                      .tid = database_number(row, 1)};
    if (thread->id < names->thread.count)
        thread->process = names->thread_process[thread->id];
    uint64_t *const numbers[] = {&thread->start_ns, &thread->end_ns, &thread->allocations,
                                 &thread->frees, &thread->bytes};
    for (int i = 0; i < 5; i++)
        if (!database_natural(loading->database, row, i + 3, "table thread", numbers[i], error))
            return false;
    if (database_is_null(row, 4))
        thread->end_ns = UINT64_MAX;
    char numbered[64];
    snprintf(numbered, sizeof(numbered), "thread %" PRIu32, thread->id);
    const char *name = database_text(row, 2);
    thread->name = names_keep(names, name && name[0] != '\0' ? name : numbered, error);
    names->thread_count++;
    if (thread->id < names->thread.count)
        names->thread.name[thread->id] = thread->name;
    return thread->name != NULL;
}

static bool read_process(void *context, const struct database_row *row, struct session_error *error)
{
    struct loading *loading = context;
    struct names *names = loading->names;
    int64_t id = database_number(row, 0);
    if (!names_id_check(loading->database, "process", id, names->process.count, error))
        return false;
    names->process.name[id] = basename(names->process.name[id]);
    names->process_pid[id] = (uint32_t)database_number(row, 1);
    int64_t machine = database_number(row, 2);
    /* There are at most as many machines as processes. */
    names->process_machine[id] =
        machine > 0 && machine < names->process.count ? (uint32_t)machine : 1;
    if (names->process_machine[id] > names->machines)
        names->machines = names->process_machine[id];
    return true;
}

static bool read_thread_process(void *context, const struct database_row *row,
                                struct session_error *error)
{
    struct loading *loading = context;
    struct names *names = loading->names;
    int64_t id = database_number(row, 0), process = database_number(row, 1);
    if (!names_id_check(loading->database, "thread", id, names->thread.count, error))
        return false;
    names->thread_process[id] =
        process > 0 && process < names->process.count ? (uint32_t)process : 0;
    return true;
}

static bool load_processes(struct names *names, struct database *database,
                           struct session_error *error)
{
    struct loading loading = {.names = names, .database = database};
    if (!load_table(names, database, "process", "program", &names->process, error))
        return false;
    names->process_pid = calloc(names->process.count, sizeof(*names->process_pid));
    names->process_machine = calloc(names->process.count, sizeof(*names->process_machine));
    names->machines = 1;
    names->thread_process = calloc(names->thread.count, sizeof(*names->thread_process));
    if (!names->process_pid || !names->process_machine || !names->thread_process)
        return session_fail_memory(error, "the session's processes");
    return database_each(database, "SELECT id, pid, machine FROM process", read_process, &loading,
                         error) &&
           database_each(database, "SELECT id, process_id FROM thread", read_thread_process,
                         &loading, error);
}

static bool read_mark(void *context, const struct database_row *row, struct session_error *error)
{
    struct loading *loading = context;
    struct names *names = loading->names;
    if (!grow((void **)&names->marks, names->mark_count, sizeof(*names->marks), error))
        return false;
    struct session_mark *mark = &names->marks[names->mark_count];
    if (!database_natural(loading->database, row, 0, "table mark", &mark->ns, error))
        return false;
    mark->kind = names_keep(names, database_text(row, 1), error);
    mark->name = names_keep(names, database_text(row, 2), error);
    names->mark_count++;
    return mark->kind && mark->name;
}

static bool read_rss(void *context, const struct database_row *row, struct session_error *error)
{
    struct loading *loading = context;
    struct names *names = loading->names;
    if (!grow((void **)&names->rss, names->rss_count, sizeof(*names->rss), error))
        return false;
    struct session_rss *rss = &names->rss[names->rss_count++];
    return database_natural(loading->database, row, 0, "table rss", &rss->ns, error) &&
           database_natural(loading->database, row, 1, "table rss", &rss->bytes, error);
}

/* A thread, to find those of one name. */
struct named_thread {
    const char *name;
    size_t id;
};

ARRAY_ORDER(by_name, struct named_thread, strcmp(a->name, b->name))

/* Puts the number of a thread before its name if another thread has the same name. */
static bool label_threads(struct names *names, struct session_error *error)
{
    const size_t count = names->thread.count;
    struct named_thread *sorted = calloc(count + 1, sizeof(*sorted));
    size_t known = 0;
    char label[300];
    bool good = true;
    names->thread_label = calloc(count + 1, sizeof(*names->thread_label));
    for (size_t id = 0; sorted && names->thread_label && id < count; id++)
        if ((names->thread_label[id] = names->thread.name[id]))
            sorted[known++] = (struct named_thread){names->thread.name[id], id};
    if (!sorted || !names->thread_label) {
        free(sorted);
        return session_fail_memory(error, "the names of threads");
    }
    qsort(sorted, known, sizeof(*sorted), by_name);
    for (size_t i = 0; good && i < known; i++) {
        const bool shared = (i > 0 && by_name(&sorted[i - 1], &sorted[i]) == 0) ||
                            (i + 1 < known && by_name(&sorted[i], &sorted[i + 1]) == 0);
        if (!shared)
            continue;
        snprintf(label, sizeof(label), "#%zu %.200s", sorted[i].id, sorted[i].name);
        names->thread_label[sorted[i].id] = names_keep(names, label, error);
        good = names->thread_label[sorted[i].id] != NULL;
    }
    free(sorted);
    return good;
}

bool names_load(struct names *names, struct database *database, struct session_error *error)
{
    static const char threads[] =
        "SELECT id, tid, name, start_ns, end_ns, allocations, frees, bytes FROM thread ORDER BY id";
    struct loading loading = {.names = names, .database = database};
    return database_each(database, "SELECT key, value FROM meta", read_meta, names, error) &&
           load_modules(names, database, error) &&
           load_table(names, database, "source_file", "path", &names->file, error) &&
           load_table(names, database, "kind", "name", &names->kind, error) &&
           load_table(names, database, "arena", "name", &names->arena, error) &&
           load_table(names, database, "thread", "name", &names->thread, error) &&
           load_processes(names, database, error) && load_types(names, database, error) &&
           load_functions(names, database, error) &&
           database_each(database, threads, read_thread, &loading, error) &&
           label_threads(names, error) &&
           database_each(database, "SELECT ns, kind, name FROM mark ORDER BY ns, id", read_mark,
                         &loading, error) &&
           database_each(database, "SELECT ns, bytes FROM rss ORDER BY ns", read_rss, &loading,
                         error);
}

bool names_load_samples(struct names *names, struct database *database, uint32_t process,
                        struct session_error *error)
{
    char marks[128], rss[128];
    snprintf(marks, sizeof(marks),
             "SELECT ns, kind, name FROM mark WHERE %" PRIu32 " IN (0, process_id) ORDER BY ns, id",
             process);
    snprintf(rss, sizeof(rss),
             "SELECT ns, bytes FROM rss WHERE process_id = %" PRIu32 " ORDER BY ns", process);
    struct loading loading = {.names = names, .database = database};
    names->mark_count = names->rss_count = 0;
    return database_each(database, marks, read_mark, &loading, error) &&
           database_each(database, rss, read_rss, &loading, error);
}

static void name_table_free(struct name_table *table)
{
    free(table->name);
}

bool names_load_owners(struct names *names, struct database *database, struct session_error *error)
{
    return names->owner.name || load_table(names, database, "owner", "name", &names->owner, error);
}

void names_free(struct names *names)
{
    string_pool_free(&names->pool);
    free(names->meta);
    name_table_free(&names->module);
    name_table_free(&names->file);
    name_table_free(&names->type);
    name_table_free(&names->kind);
    name_table_free(&names->arena);
    name_table_free(&names->owner);
    name_table_free(&names->thread);
    name_table_free(&names->process);
    FREE_ALL(names->process_pid, names->process_machine, names->thread_process, names->thread_label,
             names->confidence, names->type_first, names->module_first, names->function,
             names->threads, names->marks, names->rss);
}
