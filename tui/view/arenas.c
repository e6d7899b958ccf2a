/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of arenas: the program's own allocators as a tree, with their blocks that the filter
 * selects, and how they use the memory that they hold at one moment. */
#include <inttypes.h>
#include <stdlib.h>

#include "session/arenas.h"
#include "session/code_facts.h"
#include "session/table.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/offers.h"
#include "tui/view/common/table_view.h"

struct arenas {
    struct table_view view;
    bool at_peak;
};

struct arena_row {
    uint64_t id; /* the key */
    int level;
    const char *name; /* of the session */
    uint64_t allocations, objects, bytes, live_bytes, peak_bytes;
    struct session_arena_use at_end, at_peak; /* of the program */
};

struct arenas_data {
    struct list_data list; /* text: the filter */
    size_t made;           /* arenas of the session */
};

#define AT(member) offsetof(struct arena_row, member)
enum { COLUMN_NAME, COLUMN_BYTES = 3, COLUMN_KEPT = 6, COLUMN_UNUSED, COLUMN_HOLES, COLUMNS = 10 };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_NAME] = {"arena", .text = true, .keep = true, .unsorted = true},
    {"count", 6, .keep = true, .meaning = "allocations", .file = "allocations",
     .number = TABLE_COUNT, .at = AT(allocations)},
    {"objects", 7, 90, .number = TABLE_COUNT, .at = AT(objects)},
    [COLUMN_BYTES] = {"bytes", 6, .keep = true, .meaning = "handed out in all",
                      .number = TABLE_BYTES, .at = AT(bytes)},
    {"live", 6, 50, .meaning = "bytes at the end", .file = "live_bytes", .number = TABLE_BYTES,
     .at = AT(live_bytes)},
    {"peak", 6, 60, .meaning = "largest live bytes of the arena itself", .file = "peak_bytes",
     .number = TABLE_BYTES, .at = AT(peak_bytes)},
    [COLUMN_KEPT] = {"kept", 6, 40, .file = "kept_bytes",
                     .meaning = "bytes of the blocks in which the arena's live blocks lie",
                     .number = TABLE_BYTES, .at = TABLE_ASKED},
    [COLUMN_UNUSED] = {"unused", 6, 70, .meaning = "bytes of these in which no block lies",
                       .file = "unused_bytes", .number = TABLE_BYTES, .at = TABLE_ASKED},
    [COLUMN_HOLES] = {"holes", 6, 76, .number = TABLE_COUNT, .at = TABLE_ASKED},
    {"largest", 7, 84, .meaning = "bytes of the largest hole", .file = "largest_hole",
     .number = TABLE_BYTES, .at = TABLE_ASKED},
};

/* ---- rows ------------------------------------------------------------------------------- */

/* A filter that does not test arenas selects none of their blocks, so the question tests them. */
static bool ask(const void *view, const struct browse *browse, struct list_request *request)
{
    return browse_put_allocations(browse, request->text, LIST_TEXT - 80);
}

/* Sums up the selected blocks by arena into the rows, by id. */
static bool sum_arenas(struct session *session, const char *filter, struct arena_row *rows,
                       size_t count, struct session_error *error)
{
    const struct selection_table_query query = {
        .keys = "arena",
        .measures = 1u << MEASURE_ALLOCATIONS | 1u << MEASURE_BYTES | 1u << MEASURE_OBJECTS |
                    1u << MEASURE_LIVE_BYTES | 1u << MEASURE_PEAK_BYTES,
        .by_keys = true};
    char text[LIST_TEXT];
    snprintf(text, sizeof(text), "%s | where arena is not null", filter[0] ? filter : "all");
    struct selection *selection = selection_new(session, text, error);
    struct selection_table *table = selection ? selection_table(selection, &query, error) : NULL;
    for (size_t i = 0; table && i < table->count; i++) {
        const uint64_t *values = selection_table_values(table, i);
        if (table->key[i].is_null || table->key[i].id >= count)
            continue;
        struct arena_row *row = &rows[table->key[i].id];
        row->allocations = values[0];
        row->bytes = values[1];
        row->objects = values[2];
        row->live_bytes = values[3];
        row->peak_bytes = values[4];
    }
    const bool good = table;
    selection_table_free(table);
    selection_free(selection);
    return good;
}

static bool use_arenas(struct session *session, struct arena_row *rows, size_t count, bool at_peak,
                       struct session_error *error)
{
    struct session_arena_use *uses;
    size_t known;
    if (!session_arena_uses(session,
                            at_peak ? session_peak_ns(session) : session_duration_ns(session),
                            &uses, &known, error))
        return false;
    for (size_t id = 0; id < count && id < known; id++)
        *(at_peak ? &rows[id].at_peak : &rows[id].at_end) = uses[id];
    free(uses);
    return true;
}

/* Adds the arenas of a parent that have selected blocks, or arenas inside that do. */
static bool add_arenas(const struct session_arena *all, size_t count, const struct arena_row *by_id,
                       uint32_t parent, int level, struct list_data *list)
{
    struct arena_row *rows = list->rows;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        /* A damaged session may have arenas in a circle. */
        if (all[i].parent != parent || all[i].id == parent || level > 100)
            continue;
        const size_t here = list->count++;
        rows[here] = by_id[all[i].id];
        rows[here].level = level;
        if (!add_arenas(all, count, by_id, all[i].id, level + 1, list) &&
            by_id[all[i].id].allocations == 0)
            list->count = here;
        else
            any = true;
    }
    return any;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct arenas_data *data = context;
    const struct session_arena *all;
    size_t count, most = 1;
    if (!session_arenas(session, &all, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        most = all[i].id >= most ? all[i].id + (size_t)1 : most;
    struct arena_row *by_id = calloc(most, sizeof(*by_id));
    data->list.rows = calloc(count + 1, sizeof(struct arena_row));
    data->made = count;
    bool good = by_id && data->list.rows;
    if (!good)
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
    for (size_t i = 0; good && i < count; i++) {
        by_id[all[i].id].id = all[i].id;
        by_id[all[i].id].name = all[i].name ? all[i].name : "?";
    }
    good =
        good && (count == 0 || (sum_arenas(session, data->list.request.text, by_id, most, error) &&
                                use_arenas(session, by_id, most, false, error) &&
                                use_arenas(session, by_id, most, true, error)));
    if (good)
        add_arenas(all, count, by_id, 0, 0, &data->list);
    free(by_id);
    return good;
}

static int level(const void *row)
{
    return ((const struct arena_row *)row)->level;
}

static uint64_t number(const void *view, const void *row, size_t column)
{
    const struct arena_row *arena = row;
    const struct session_arena_use *use =
        ((const struct arenas *)view)->at_peak ? &arena->at_peak : &arena->at_end;
    return column == COLUMN_KEPT     ? use->host_bytes
           : column == COLUMN_UNUSED ? use->hole_bytes
           : column == COLUMN_HOLES  ? use->hole_count
                                     : use->largest;
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct arena_row *arena = row;
    if (column == COLUMN_NAME) {
        snprintf(cell->text, sizeof(cell->text), "%*s%.180s",
                 2 * (arena->level < 20 ? arena->level : 20), "", arena->name);
    } else if (column == COLUMN_UNUSED) {
        cell->part = cell->number;
        cell->whole = number(view, row, COLUMN_KEPT);
    }
}

static char *step(const void *view, const void *row, const char **why)
{
    char *step;
    return asprintf(&step, "where arena == %" PRIu64, ((const struct arena_row *)row)->id) < 0
               ? NULL
               : step;
}

static void label(const void *view, const void *row, char *out, size_t size)
{
    snprintf(out, size, "this arena: %.100s", ((const struct arena_row *)row)->name);
}

static const struct list_kind arenas_list = {LIST_OF(struct arena_row),
                                             .sort = COLUMN_BYTES,
                                             .load = LIST_LOAD(arenas_data, run, list_free_rows),
                                             .ask = ask,
                                             .cell = cell,
                                             .number = number,
                                             .level = level,
                                             .step = step,
                                             .label = label};

/* ---- view ------------------------------------------------------------------------------- */

static const char *instead(const void *view)
{
    const struct arenas *arenas = view;
    const struct arenas_data *data = arenas->view.list.data;
    return !arenas->view.list.asked ? "the filter is too long for this view"
           : data && data->made == 0
               ? "Arenas are allocators of the program's own, such as pools; it names none.\n"
                 "mprof_arena_create() and mprof_arena_alloc() of mprof.h tell their blocks:\n"
                 "docs/custom-allocators.md."
               : NULL;
}

static void head(const void *view, const struct browse *browse, const struct area *area)
{
    const struct arenas *arenas = view;
    const struct arenas_data *data = arenas->view.list.data;
    char count[FORMAT_SIZE], made[FORMAT_SIZE];
    if (!data)
        return;
    area_print(area, 1, 0, theme_style(THEME_STRONG), "%s of %s arenas have selected blocks",
               format_count(count, data->list.count), format_count(made, data->made));
    area_print(area, 1, 1, theme_style(THEME_FAINT), "kept, unused and holes %s; all blocks count",
               arenas->at_peak ? "at the program's peak" : "at the end");
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    struct arenas *arenas = view;
    if (input->action != ACTION_MODE)
        return false;
    arenas->at_peak = !arenas->at_peak;
    list_sort(&arenas->view.list);
    browse_say(browse, "what arenas keep %s",
               arenas->at_peak ? "at the program's peak" : "at the end");
    return true;
}

static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    if (capacity == 0)
        return 0;
    snprintf(out->label, sizeof(out->label), "all arenas");
    return offer_step(out, "where arena is not null");
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "list the blocks of the arena", .keys = {KEYCODE_ENTER}, .footer = "list"},
    {ACTION_MODE, "what arenas keep at the end, or at the program's peak", .keys = {'C'},
     .footer = "end/peak"},
};

static const struct table_view_kind kind = {.size = sizeof(struct arenas),
                                            .list = &arenas_list,
                                            .lines = 2,
                                            .head = head,
                                            .instead = instead,
                                            .act = act,
                                            .offers = offers};

const struct view_ops arenas_view = {
    .name = "arenas",
    .title = "Arenas",
    .help = "The program's own allocators, if it names them by mprof.h. Kept is the size of the "
            "live blocks that hold live blocks of the arena; unused is what none of them covers.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
