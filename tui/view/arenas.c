/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The view of arenas: the program's own allocators as a tree, with their blocks that the filter
 * selects, and how they use the memory that they hold at one moment.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/arenas.h"
#include "session/code_facts.h"
#include "session/groups.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/common/panes.h"
#include "tui/view/view.h"

enum { FILTER_MOST = 4000, MOMENTS = 2, ARENA_LINES = 2 };

struct arena_row {
    uint32_t id;
    int depth;
    const char *name; /* of the session */
    uint64_t allocations, objects, bytes, live_bytes, peak_bytes;
    struct session_arena_use use[MOMENTS]; /* at the end, at the program's peak */
};

struct arenas_data {
    struct {
        uint64_t selections; /* the request */
        char filter[FILTER_MOST];
    } request;
    struct arena_row *rows; /* as a tree; the order of the table */
    size_t count, made;     /* rows; arenas of the session */
    bool complete, ordered;
};

struct arenas {
    struct load load;
    struct arenas_data *data; /* NULL: not there yet */
    bool at_peak, estimated, too_long;
    struct table table;
};

enum column {
    COLUMN_NAME,
    COLUMN_COUNT,
    COLUMN_OBJECTS,
    COLUMN_BYTES,
    COLUMN_LIVE,
    COLUMN_PEAK,
    COLUMN_KEPT,
    COLUMN_UNUSED,
    COLUMN_HOLES,
    COLUMN_LARGEST,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_NAME] = {.title = "arena", .text = true, .keep = true, .unsorted = true},
    [COLUMN_COUNT] = {.title = "count",
                      .width = 6,
                      .keep = true,
                      .meaning = "allocations",
                      .file = "allocations"},
    [COLUMN_OBJECTS] = {.title = "objects", .width = 7, .least_width = 90},
    [COLUMN_BYTES] = {.title = "bytes", .width = 6, .keep = true, .meaning = "handed out in all"},
    [COLUMN_LIVE] = {.title = "live",
                     .width = 6,
                     .least_width = 50,
                     .meaning = "bytes at the end",
                     .file = "live_bytes"},
    [COLUMN_PEAK] = {.title = "peak",
                     .width = 6,
                     .least_width = 60,
                     .meaning = "largest live bytes of the arena itself",
                     .file = "peak_bytes"},
    [COLUMN_KEPT] = {.title = "kept",
                     .width = 6,
                     .least_width = 40,
                     .meaning = "bytes of the blocks in which the arena's live blocks lie",
                     .file = "kept_bytes"},
    [COLUMN_UNUSED] = {.title = "unused",
                       .width = 6,
                       .least_width = 70,
                       .meaning = "bytes of these in which no block lies",
                       .file = "unused_bytes"},
    [COLUMN_HOLES] = {.title = "holes", .width = 6, .least_width = 76},
    [COLUMN_LARGEST] = {.title = "largest",
                        .width = 7,
                        .least_width = 84,
                        .meaning = "bytes of the largest hole",
                        .file = "largest_hole"},
};

static void *create(void)
{
    struct arenas *arenas = calloc(1, sizeof(*arenas));
    if (arenas) {
        arenas->table.sort = COLUMN_BYTES;
        arenas->table.descending = true;
    }
    return arenas;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct arenas *arenas = view;
    load_clear(&exploration->loader, &arenas->load);
    free(arenas);
}

/* ---- the question ----------------------------------------------------------------------- */

static bool take_group(struct session_group_set *groups, size_t i, struct arena_row *row,
                       struct session_error *error)
{
    return session_group_value(groups, i, MEASURE_ALLOCATIONS, &row->allocations, error) &&
           session_group_value(groups, i, MEASURE_OBJECTS, &row->objects, error) &&
           session_group_value(groups, i, MEASURE_BYTES, &row->bytes, error) &&
           session_group_value(groups, i, MEASURE_LIVE_BYTES, &row->live_bytes, error) &&
           session_group_value(groups, i, MEASURE_PEAK_BYTES, &row->peak_bytes, error);
}

/* Sums up the selected blocks by arena into the rows, by id. A filter that does not test arenas
 * selects none of their blocks, so the question tests them. */
static bool sum_arenas(struct session *session, const char *filter, struct arena_row *rows,
                       size_t count, struct session_error *error)
{
    char text[FILTER_MOST + 80];
    snprintf(text, sizeof(text), "%s | where arena is not null", filter[0] ? filter : "all");
    struct selection *selection = selection_new(session, text, error);
    struct graph_result *result =
        selection ? selection_graph(selection, "join arena", error) : NULL;
    struct session_group_set *groups = result ? graph_result_groups(result) : NULL;
    bool good = groups != NULL;
    for (size_t i = 0; good && i < session_groups_count(groups); i++) {
        const struct session_group_key key = session_group_key(groups, i, 0);
        if (!key.is_null && key.id < count)
            good = take_group(groups, i, &rows[key.id], error);
    }
    graph_result_free(result);
    selection_free(selection);
    return good;
}

static bool use_arenas(struct session *session, struct arena_row *rows, size_t count,
                       struct session_error *error)
{
    const uint64_t moments[MOMENTS] = {session_duration_ns(session), session_peak_ns(session)};
    for (int i = 0; i < MOMENTS; i++) {
        struct session_arena_use *uses;
        size_t known;
        if (!session_arena_uses(session, moments[i], &uses, &known, error))
            return false;
        for (size_t id = 0; id < count && id < known; id++)
            rows[id].use[i] = uses[id];
        free(uses);
    }
    return true;
}

/* Adds the arenas of a parent that have selected blocks, or arenas inside that do. */
static bool add_arenas(const struct session_arena *all, size_t count, const struct arena_row *by_id,
                       uint32_t parent, int depth, struct arenas_data *data)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        /* A damaged session may have arenas in a circle. */
        if (all[i].parent != parent || all[i].id == parent || depth > 100)
            continue;
        const size_t here = data->count++;
        data->rows[here] = by_id[all[i].id];
        data->rows[here].depth = depth;
        if (!add_arenas(all, count, by_id, all[i].id, depth + 1, data) &&
            by_id[all[i].id].allocations == 0)
            data->count = here;
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
    (void)selection;
    if (!session_arenas(session, &all, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        most = all[i].id >= most ? all[i].id + (size_t)1 : most;
    struct arena_row *by_id = calloc(most, sizeof(*by_id));
    data->rows = calloc(count + 1, sizeof(*data->rows));
    data->made = count;
    bool good = by_id && data->rows;
    if (!good)
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
    for (size_t i = 0; good && i < count; i++) {
        by_id[all[i].id].id = all[i].id;
        by_id[all[i].id].name = all[i].name ? all[i].name : "?";
    }
    good = good && (count == 0 || (sum_arenas(session, data->request.filter, by_id, most, error) &&
                                   use_arenas(session, by_id, most, error)));
    if (good)
        add_arenas(all, count, by_id, 0, 0, data);
    free(by_id);
    data->complete = good;
    return good;
}

static void clear(void *context)
{
    free(((struct arenas_data *)context)->rows);
}

static void load(struct arenas *arenas, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct arenas_data *)0)->request),
                                          sizeof(struct arenas_data), run, clear};
    struct arenas_data *wanted = calloc(1, sizeof(*wanted));
    arenas->estimated = session_sampled(exploration->session);
    arenas->data = NULL;
    if (!wanted)
        return;
    wanted->request.selections = exploration->selections;
    arenas->too_long = !exploration_put_allocations(exploration, wanted->request.filter,
                                                    sizeof(wanted->request.filter));
    if (!arenas->too_long)
        arenas->data = exploration_get(exploration, &arenas->load, &kind, &wanted->request);
    free(wanted);
    if (arenas->data && !arenas->data->complete)
        arenas->data = NULL;
}

/* ---- table ------------------------------------------------------------------------------ */

static uint64_t value_of(const struct arenas *arenas, const struct arena_row *row, size_t column)
{
    const struct session_arena_use *use = &row->use[arenas->at_peak];
    const uint64_t values[COLUMNS] = {
        [COLUMN_COUNT] = row->allocations, [COLUMN_OBJECTS] = row->objects,
        [COLUMN_BYTES] = row->bytes,       [COLUMN_LIVE] = row->live_bytes,
        [COLUMN_PEAK] = row->peak_bytes,   [COLUMN_KEPT] = use->host_bytes,
        [COLUMN_UNUSED] = use->hole_bytes, [COLUMN_HOLES] = use->hole_count,
        [COLUMN_LARGEST] = use->largest};
    return values[column];
}

static void cell(void *context, size_t place, size_t column, struct table_cell *cell)
{
    const struct arenas *arenas = context;
    const struct arena_row *row = &arenas->data->rows[place];
    if (column == COLUMN_NAME) {
        snprintf(cell->text, sizeof(cell->text), "%*s%.180s",
                 2 * (row->depth < 20 ? row->depth : 20), "", row->name);
        return;
    }
    cell->is_number = true;
    cell->number = value_of(arenas, row, column);
    cell->styled = cell->number == 0;
    cell->style = theme_style(THEME_FAINT);
    if (column == COLUMN_COUNT || column == COLUMN_OBJECTS || column == COLUMN_HOLES)
        format_count_short(cell->text, cell->number);
    else
        format_size_short(cell->text, cell->number);
    if (column == COLUMN_UNUSED) {
        cell->part = cell->number;
        cell->whole = value_of(arenas, row, COLUMN_KEPT);
    }
}

static uint64_t key(void *context, size_t place)
{
    const struct arenas *arenas = context;
    return arenas->data->rows[place].id;
}

static struct table_source source_of(const struct arenas *arenas)
{
    return (struct table_source){.context = (void *)arenas,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = arenas->data ? arenas->data->count : 0,
                                 .about = arenas->estimated ? "~" : NULL,
                                 .cell = cell,
                                 .key = key};
}

/* Returns the row after a row's arenas. */
static size_t end_of(const struct arenas_data *data, size_t place)
{
    size_t end = place + 1;
    while (end < data->count && data->rows[end].depth > data->rows[place].depth)
        end++;
    return end;
}

/* Orders rows [from, to), which begin with arenas of one parent: each moves with those inside. */
static void sort(const struct arenas *arenas, size_t from, size_t to)
{
    struct arena_row *rows = arenas->data->rows;
    for (size_t i = from; i < to; i = end_of(arenas->data, i)) {
        size_t best = i;
        for (size_t k = end_of(arenas->data, i); k < to; k = end_of(arenas->data, k)) {
            const uint64_t a = value_of(arenas, &rows[best], arenas->table.sort);
            const uint64_t b = value_of(arenas, &rows[k], arenas->table.sort);
            if (arenas->table.descending ? b > a : b < a)
                best = k;
        }
        /* Moves the tree of the best one in front of the others. */
        for (size_t moved = end_of(arenas->data, best) - best; best > i && moved > 0; moved--) {
            const size_t last = best + moved - 1;
            const struct arena_row row = rows[last];
            memmove(&rows[i + 1], &rows[i], (last - i) * sizeof(*rows));
            rows[i] = row;
            best++;
        }
        sort(arenas, i + 1, end_of(arenas->data, i));
    }
}

/* ---- update ----------------------------------------------------------------------------- */

static const struct arena_row *selected(const struct arenas *arenas)
{
    return arenas->data && arenas->table.selected < arenas->data->count
               ? &arenas->data->rows[arenas->table.selected]
               : NULL;
}

static void list_row(const struct arenas *arenas, struct exploration *exploration)
{
    const struct arena_row *row = selected(arenas);
    char step[64];
    if (!row)
        return;
    snprintf(step, sizeof(step), "where arena == %" PRIu32, row->id);
    exploration_list(exploration, step);
}

static bool act(struct arenas *arenas, struct exploration *exploration,
                const struct view_input *input, const struct table_place *place)
{
    const struct table_source source = source_of(arenas);
    if (input->action == ACTION_MODE) {
        arenas->at_peak = !arenas->at_peak;
        if (arenas->data)
            arenas->data->ordered = false;
        exploration_say(exploration, "what arenas keep %s",
                        arenas->at_peak ? "at the program's peak" : "at the end");
        return true;
    }
    if (input->action == ACTION_FOLLOW) {
        list_row(arenas, exploration);
        return true;
    }
    const enum table_answer answer =
        list_update(exploration, &arenas->table, &source, input, place);
    if (answer == TABLE_SORTED && arenas->data)
        sort(arenas, 0, arenas->data->count);
    if (answer == TABLE_FOLLOW)
        list_row(arenas, exploration);
    return answer != TABLE_IGNORED;
}

static struct table_place place_of(int width, int height)
{
    return (struct table_place){0, ARENA_LINES, width,
                                height > ARENA_LINES + 1 ? height - ARENA_LINES : 1};
}

/* Sorts rows that are new, or whose numbers have changed. */
static void order(const struct arenas *arenas)
{
    if (arenas->data && !arenas->data->ordered) {
        arenas->data->ordered = true;
        sort(arenas, 0, arenas->data->count);
    }
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct arenas *arenas = view;
    const struct table_place place = place_of(input->width, input->height);
    load(arenas, exploration);
    order(arenas);
    bool used = input->action == ACTION_REFRESH;
    if (!used)
        used = act(arenas, exploration, input, &place);
    order(arenas);
    const struct table_source source = source_of(arenas);
    table_settle(&arenas->table, &source, &place);
    return used;
}

/* ---- render and text -------------------------------------------------------------------- */

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct arenas *arenas = view;
    const struct table_place place = place_of(area->width, area->height);
    const struct table_source source = source_of(arenas);
    char count[FORMAT_SIZE], made[FORMAT_SIZE];
    if (arenas->too_long) {
        area_text(area, 2, 2, theme_style(THEME_FAINT), "the filter is too long for this view");
        return;
    }
    if (arenas->data && arenas->data->made == 0) {
        area_text(area, 2, 2, theme_style(THEME_FAINT),
                  "the program has not named any arena of its own (mprof_arena_create)");
        return;
    }
    if (arenas->data) {
        area_print(area, 1, 0, theme_style(THEME_STRONG), "%s of %s arenas have selected blocks",
                   format_count(count, source.rows), format_count(made, arenas->data->made));
        area_print(area, 1, 1, theme_style(THEME_FAINT),
                   "kept, unused and holes %s; all blocks count",
                   arenas->at_peak ? "at the program's peak" : "at the end");
    }
    if (source.rows == 0) {
        list_render_empty(exploration, area, 3, arenas->data != NULL);
        return;
    }
    const struct area rest = panes_area(area, &place);
    table_render(&arenas->table, &source, &rest);
}

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct arenas *arenas = view;
    const struct arena_row *row = selected(arenas);
    (void)exploration;
    if (!row || capacity < 2)
        return 0;
    snprintf(out[0].label, sizeof(out->label), "this arena: %.100s", row->name);
    snprintf(out[0].step, sizeof(out->step), "where arena == %" PRIu32, row->id);
    snprintf(out[1].label, sizeof(out->label), "all arenas");
    snprintf(out[1].step, sizeof(out->step), "where arena is not null");
    return 2;
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct arenas *arenas = view;
    const struct table_source source = source_of(arenas);
    (void)exploration;
    if (!selected(arenas))
        return false;
    table_copy(&source, arenas->table.selected, out);
    return true;
}

static bool write_table(void *view, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    const struct arenas *arenas = view;
    const struct table_source source = source_of(arenas);
    (void)exploration;
    if (arenas->data)
        table_write(&source, out, format);
    return arenas->data != NULL;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct arenas *state = view;
    return table_order(&state->table, columns, COLUMNS, order, set);
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "list",
     .description = "list the blocks of the arena"},
    {.keys = {'C'},
     .action = ACTION_MODE,
     .footer = "end/peak",
     .description = "what arenas keep at the end, or at the program's peak"},
};

const struct view_ops arenas_view = {
    .name = "arenas",
    .title = "Arenas",
    .help = "The program's own allocators, if it names them by mprof.h. Kept is the size of the "
            "live blocks that hold live blocks of the arena; unused is what none of them covers.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .order = keep_order,
    .table = write_table,
};
