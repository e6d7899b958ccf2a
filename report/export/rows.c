/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * csv and ndjson: the rows of a filter graph. Allocations come in the order of time; groups have
 * their keys and all measures; a measure is one row.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "report/export/export.h"
#include "report/export/ids.h"
#include "report/export/row_writer.h"
#include "report/export/tables.h"
#include "report/output.h"
#include "session/events.h"
#include "session/groups.h"

enum { KEYS_MOST = 32, COLUMNS_MOST = KEYS_MOST + MEASURE_TOTAL + 1 };

/* ---- allocations ---- */

/* The place of a stack's call site. */
struct site {
    bool known;
    const char *file, *module;
    uint32_t line;
};

struct listing {
    const struct export *export;
    struct row_writer rows;
    struct site *sites; /* by stack */
    const struct session_arena *arenas;
    size_t arena_count;
};

static const char *const allocation_columns[] = {
    "id",          "address", "size",     "count",         "kind",       "alignment", "alloc_ns",
    "free_ns",     "type",    "function", "file",          "line",       "module",    "thread",
    "free_thread", "arena",   "stack_id", "free_stack_id", "realloc_of",
};
enum { ALLOCATION_COLUMNS = sizeof(allocation_columns) / sizeof(*allocation_columns) };

static const struct site *find_site(const struct listing *listing, uint32_t stack)
{
    struct session *session = listing->export->own.session;
    struct site *site = &listing->sites[stack];
    const uint32_t *ids;
    size_t count;
    struct session_code_frame frame;
    struct session_module module;
    if (site->known)
        return site;
    if (!session_stack_frames(session, stack, &ids, &count, listing->export->error))
        return NULL;
    *site = (struct site){.known = true};
    const size_t place = session_stack_call_site(session, stack);
    if (place >= count)
        return site;
    if (!session_code_frame(session, ids[place], &frame, listing->export->error) ||
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
    const struct session *session = listing->export->own.session;
    const struct session_allocation *block = event->allocation;
    struct row_writer *rows = &listing->rows;
    if (event->kind != SESSION_EVENT_ALLOC)
        return true;
    const struct site *site = find_site(listing, block->stack);
    if (!site)
        return false;
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
    rows_text(rows, arena_name(listing, block->arena));
    put_id(rows, block->stack);
    put_id(rows, block->free_stack);
    put_id(rows, block->realloc_of);
    return !rows->failed || report_fail(listing->export->error, "out of memory for a row");
}

static bool put_allocations(const struct export *export, struct selection *selection, bool ndjson)
{
    struct session *session = export->own.session;
    struct listing listing = {
        .export = export,
        .sites = calloc((size_t)session_stack_largest(session) + 1, sizeof(*listing.sites))};
    bool good = listing.sites || report_fail(export->error, "out of memory for the call sites");
    good = good && session_arenas(session, &listing.arenas, &listing.arena_count, export->error);
    if (good) {
        rows_begin(&listing.rows, export->out, ndjson, allocation_columns, ALLOCATION_COLUMNS);
        good = selection_events(selection, put_allocation, &listing, export->error);
    }
    free(listing.sites);
    return good;
}

/* ---- groups ---- */

static void put_key(struct row_writer *rows, const struct session_group_set *set, size_t row,
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
    if (key_count > KEYS_MOST)
        return report_fail(export->error, "the groups have too many keys");
    for (size_t i = 0; i < key_count; i++)
        names[i] = keys[i].name;
    for (int i = 0; i < MEASURE_TOTAL; i++)
        names[key_count + (size_t)i] = session_group_measure_name((enum session_group_measure)i);
    names[key_count + MEASURE_TOTAL] = "estimated";
    if (!session_groups_prepare(set, (1u << MEASURE_TOTAL) - 1, export->error))
        return false;
    rows_begin(&rows, export->out, ndjson, names, key_count + MEASURE_TOTAL + 1);
    for (size_t row = 0; row < session_groups_count(set); row++) {
        for (size_t key = 0; key < key_count; key++)
            put_key(&rows, set, row, key, keys[key].type);
        for (int i = 0; i < MEASURE_TOTAL; i++) {
            uint64_t value;
            if (!session_group_value(set, row, (enum session_group_measure)i, &value,
                                     export->error))
                return false;
            rows_number(&rows, value);
        }
        rows_truth(&rows, session_sampled(export->own.session));
    }
    return !rows.failed || report_fail(export->error, "out of memory for a row");
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
    return !rows.failed || report_fail(export->error, "out of memory for a row");
}

/* ---- differences of groups ---- */

/* The sums that can be subtracted. */
static const enum session_group_measure sums[] = {MEASURE_ALLOCATIONS, MEASURE_BYTES,
                                                  MEASURE_OBJECTS,     MEASURE_LIVE_BYTES,
                                                  MEASURE_LIVE_COUNT,  MEASURE_AT_PEAK_BYTES};
enum { SUMS = sizeof(sums) / sizeof(*sums) };

struct difference_row {
    char *key;                     /* all keys as one text */
    struct session_group_set *set; /* the set and row whose keys are written */
    size_t row;
    int64_t values[SUMS];
};

struct difference {
    struct difference_row *rows;
    size_t count, capacity;
    struct text_ids *known; /* keys; numbers are places in `rows` */
};

/* Returns all keys of a row as one text, which the caller frees. */
static char *row_key(const struct session_group_set *set, size_t row, size_t key_count)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (size_t key = 0; key < key_count; key++) {
        char shown[4096];
        session_group_key_text(set, row, key, shown, sizeof(shown));
        fprintf(out, "%d%s\x1f", session_group_key(set, row, key).is_null, shown);
    }
    return fclose(out) == 0 ? text : NULL;
}

/* Adds a row, which takes over the key. Returns false if memory is exhausted. */
static bool append_row(struct difference *all, char *key, struct session_group_set *set, size_t row)
{
    if (all->count == all->capacity) {
        const size_t capacity = all->capacity * 2 + 256;
        struct difference_row *grown = realloc(all->rows, capacity * sizeof(*grown));
        if (!grown)
            return false;
        all->rows = grown;
        all->capacity = capacity;
    }
    all->rows[all->count++] = (struct difference_row){.key = key, .set = set, .row = row};
    return true;
}

static bool add_row(struct difference *all, const struct export *export,
                    struct session_group_set *set, size_t row, size_t key_count, int64_t sign)
{
    char *key = row_key(set, row, key_count);
    uint32_t id;
    bool is_new = false;
    const bool good = key && text_ids_find(all->known, key, &id, &is_new) &&
                      (!is_new || append_row(all, key, set, row));
    if (!good || !is_new)
        free(key);
    if (!good || !all->rows)
        return report_fail(export->error, "out of memory for the difference");
    for (size_t i = 0; i < SUMS; i++) {
        uint64_t value;
        if (!session_group_value(set, row, sums[i], &value, export->error))
            return false;
        all->rows[id].values[i] += sign * (int64_t)value;
    }
    return true;
}

static bool put_difference(const struct export *export, struct difference *all, size_t key_count,
                           const struct session_key_column *keys, bool ndjson)
{
    const char *names[KEYS_MOST + SUMS];
    struct row_writer rows;
    for (size_t i = 0; i < key_count; i++)
        names[i] = keys[i].name;
    for (size_t i = 0; i < SUMS; i++)
        names[key_count + i] = session_group_measure_name(sums[i]);
    rows_begin(&rows, export->out, ndjson, names, key_count + SUMS);
    for (size_t i = 0; i < all->count; i++) {
        const struct difference_row *row = &all->rows[i];
        bool differs = false;
        for (size_t sum = 0; sum < SUMS; sum++)
            differs |= row->values[sum] != 0;
        for (size_t key = 0; differs && key < key_count; key++)
            put_key(&rows, row->set, row->row, key, keys[key].type);
        for (size_t sum = 0; differs && sum < SUMS; sum++)
            rows_signed(&rows, row->values[sum]);
    }
    return !rows.failed || report_fail(export->error, "out of memory for a row");
}

static bool subtract(const struct export *export, struct session_group_set *own,
                     struct session_group_set *base, bool ndjson)
{
    const struct session_key_column *keys;
    const size_t key_count = session_groups_keys(own, &keys);
    struct difference all = {.known = text_ids_new()};
    bool good = (all.known && key_count <= KEYS_MOST) ||
                report_fail(export->error, "out of memory for the difference");
    for (size_t row = 0; good && row < session_groups_count(own); row++)
        good = add_row(&all, export, own, row, key_count, 1);
    for (size_t row = 0; good && row < session_groups_count(base); row++)
        good = add_row(&all, export, base, row, key_count, -1);
    good = good && put_difference(export, &all, key_count, keys, ndjson);
    text_ids_free(all.known);
    for (size_t i = 0; i < all.count; i++)
        free(all.rows[i].key);
    free(all.rows);
    return good;
}

static bool put_against_base(struct export *export, const struct graph_result *own, bool ndjson)
{
    struct graph_result *base = graph_run(export->base.session, export->filter, export->error);
    bool good = base;
    if (good && graph_result_kind(own) != RESULT_GROUPS)
        good = report_fail(export->error, "only groups have differences: end the filter with a "
                                          "join, as in 'all | join function'");
    good = good && subtract(export, graph_result_groups(own), graph_result_groups(base), ndjson);
    graph_result_free(base);
    return good;
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
        good = put_against_base(export, result, ndjson);
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
