/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "report/export/tables.h"
#include "report/output/output.h"
#include "session/events.h"

enum { COLUMNS_MOST = 2 * ROWS_KEYS_MOST + MEASURE_TOTAL + 1 };

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
    for (size_t i = 0; i < listing->arena_count; i++) {
        if (listing->arenas[i].id == arena)
            return listing->arenas[i].name;
    }
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

void rows_put_key(struct row_writer *rows, const struct session_group_set *set, size_t row,
                  size_t key, enum session_key_type type)
{
    const struct session_group_key value = session_group_key(set, row, key);
    char shown[256];
    if (value.is_null) {
        rows_null(rows);
    } else if (type == KEY_TRUTH) {
        rows_truth(rows, value.id != 0);
    } else if (type == KEY_NUMBER || type == KEY_BYTES || type == KEY_COLOR ||
               (type == KEY_ID && !value.text)) {
        rows_number(rows, value.id);
    } else if (type != KEY_PATH) {
        rows_text(rows, value.text);
    } else {
        const size_t length = session_group_key_text(set, row, key, shown, sizeof(shown));
        char *path = length < sizeof(shown) ? NULL : malloc(length + 1);
        if (path)
            session_group_key_text(set, row, key, path, length + 1);
        else if (length >= sizeof(shown))
            rows->failed = true;
        rows_text(rows, path ? path : shown);
        free(path);
    }
}

static bool put_groups(const struct export *export, struct session_group_set *set, bool ndjson)
{
    const struct session_key_column *keys;
    const size_t key_count = session_groups_keys(set, &keys);
    const char *names[COLUMNS_MOST];
    struct row_writer rows;
    if (key_count > ROWS_KEYS_MOST)
        return report_fail(export->error, "the groups have too many keys");
    size_t columns = 0;
    for (size_t i = 0; i < key_count; i++) {
        names[columns++] = keys[i].name;
        if (session_group_id_name(&keys[i]))
            names[columns++] = session_group_id_name(&keys[i]);
    }
    for (int i = 0; i < MEASURE_TOTAL; i++)
        names[columns++] = session_group_measure_name((enum session_group_measure)i);
    names[columns++] = "estimated";
    if (!session_groups_prepare(set, (1u << MEASURE_TOTAL) - 1, export->error))
        return false;
    rows_begin(&rows, export->out, ndjson, names, columns);
    for (size_t row = 0; row < session_groups_count(set); row++) {
        for (size_t key = 0; key < key_count; key++) {
            const struct session_group_key value = session_group_key(set, row, key);
            rows_put_key(&rows, set, row, key, keys[key].type);
            if (session_group_id_name(&keys[key]) && value.is_null)
                rows_null(&rows);
            else if (session_group_id_name(&keys[key]))
                rows_number(&rows, value.id);
        }
        for (int i = 0; i < MEASURE_TOTAL; i++) {
            uint64_t value;
            if (!session_group_value(set, row, (enum session_group_measure)i, &value,
                                     export->error))
                return false;
            rows_number(&rows, value);
        }
        rows_truth(&rows, session_sampled(export->own.session));
    }
    return !rows.failed || report_fail_memory(export->error, "a row");
}

static bool put_measure(const struct export *export, const struct session_measure *measure,
                        bool ndjson)
{
    static const char *const units[] = {"number", "bytes", "ns", "ns since the start"};
    static const char *const names[] = {"measure", "unit", "value", "estimated", "standard_error"};
    struct row_writer rows;
    rows_begin(&rows, export->out, ndjson, names, sizeof(names) / sizeof(*names));
    rows_text(&rows, measure->name);
    rows_text(&rows, units[measure->unit]);
    if (measure->is_null)
        rows_null(&rows);
    else if (measure->negative)
        rows_signed(&rows, -(int64_t)measure->value);
    else
        rows_number(&rows, measure->value);
    rows_truth(&rows, measure->estimated);
    if (measure->estimated && measure->standard_error >= 0)
        rows_real(&rows, measure->standard_error);
    else
        rows_null(&rows);
    return !rows.failed || report_fail_memory(export->error, "a row");
}

static bool put_allocations(const struct export *export, struct selection *selection, bool ndjson)
{
    struct row_writer rows;
    rows_begin_allocations(&rows, export, ndjson, false);
    return rows_put_allocations(&rows, export, export->own.session, selection, 0);
}

static bool put_rows(struct export *export, bool ndjson)
{
    if (export->tables)
        return export_tables(export, ndjson);
    struct graph_result *result = graph_run(export->own.session, export->filter, export->error);
    if (!result)
        return false;
    const struct session_warning *warnings;
    const size_t warning_count = graph_result_warnings(result, &warnings);
    for (size_t i = 0; i < warning_count; i++)
        say("mprof-export", "--filter: %s", warnings[i].message);
    bool good = true;
    if (export->base.session)
        good = rows_put_difference(export, result, ndjson);
    else if (graph_result_kind(result) == RESULT_ALLOCATIONS)
        good = put_allocations(export, graph_result_selection(result), ndjson);
    else if (graph_result_kind(result) == RESULT_GROUPS)
        good = put_groups(export, graph_result_groups(result), ndjson);
    else
        good = put_measure(export, graph_result_measure(result), ndjson);
    graph_result_free(result);
    return good;
}

bool export_csv(struct export *export)
{
    return put_rows(export, false);
}

bool export_ndjson(struct export *export)
{
    return put_rows(export, true);
}
