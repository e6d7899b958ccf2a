/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of allocations behind every number: those of the active filter, sorted by any column.
 * The engine gives the rows on the screen (session/rows.h), so the list may have 100 million. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "schemas/array.h"
#include "session/rows.h"
#include "session/user_code.h"
#include "tui/screen/format.h"
#include "tui/screen/table.h"
#include "tui/screen/theme.h"
#include "tui/view/common/browse.h"
#include "tui/view/common/list.h"
#include "tui/view/common/offers.h"
#include "tui/view/view.h"

enum allocation_column {
    ALLOCATION_ID,
    ALLOCATION_ADDRESS,
    ALLOCATION_SIZE,
    ALLOCATION_COUNT,
    ALLOCATION_TYPE,
    ALLOCATION_FUNCTION,
    ALLOCATION_USER,
    ALLOCATION_THREAD,
    ALLOCATION_TIME,
    ALLOCATION_LIFETIME,
    ALLOCATION_FREE_THREAD,
    ALLOCATION_FREED_IN,
    ALLOCATION_COLUMNS
};

/* One row of the list, with what its names need the engine for. */
struct allocation_row {
    struct session_allocation block;
    uint32_t user;     /* function of the user's frame; 0: none */
    uint32_t freed_in; /* function of the user's frame of the free, or of its call site if it has
                          none; 0: not known */
};

/* A part of the list. The request says which. */
struct allocation_part {
    struct {
        uint64_t selections, field, descending, first, capacity;
    } request;
    struct allocation_row *rows;
    size_t count;
};

#define STRIP_FRAMES 64

/* The details of the selected row, below the list. */
struct allocation_strip {
    struct {
        uint64_t renewals, stack;
    } request;
    struct session_frame frames[STRIP_FRAMES];
    size_t count, call_site;
    size_t named; /* the user's frame or, without one, that of the call site */
};

struct allocations {
    struct table table;
    struct session_row_order order;
    uint64_t selections; /* of the filter that the list was made for */
    struct load part_load, all_load, place_load, strip_load;
    const struct allocation_part *part; /* the last part, maybe of another order, or NULL */
    const struct allocation_strip *strip;
    struct function_matchers matchers; /* of the selected row */
    const struct browse *browse;
    uint64_t wanted;   /* the id to select as soon as its place is known; 0: none */
    uint64_t selected; /* the id of the selected row, 0: not known */
};

enum {
    BLOCK = 64, /* parts begin with a multiple of so many rows */
    FRAMES_MOST = 512
};

/* ---- rows ------------------------------------------------------------------------------- */

static uint32_t function_of_frame(struct session *session, uint32_t stack, size_t place)
{
    static _Thread_local struct session_frame frames[FRAMES_MOST];
    if (stack == 0 || place >= FRAMES_MOST)
        return 0;
    return session_stack(session, stack, frames, place + 1) > place ? frames[place].function : 0;
}

static int compare_places(const void *left, const void *right)
{
    const uint64_t *const *a = left, *const *b = right;
    return ORDER(**a, **b);
}

/* Reads the rows in the order of their ids, so that those of one chunk are read together. */
static bool read_rows(struct session *session, const uint64_t *ids, struct allocation_part *part,
                      struct session_error *error)
{
    const uint64_t **order = malloc((part->count + 1) * sizeof(*order));
    bool good = order;
    for (size_t i = 0; good && i < part->count; i++)
        order[i] = &ids[i];
    if (good)
        qsort(order, part->count, sizeof(*order), compare_places);
    for (size_t i = 0; good && i < part->count; i++) {
        struct allocation_row *row = &part->rows[order[i] - ids];
        good = session_allocation(session, *order[i], &row->block, error);
        if (!good)
            break;
        row->user = function_of_frame(session, row->block.stack,
                                      session_stack_user(session, row->block.stack));
        const uint32_t freed = row->block.free_ns != SESSION_LIVE ? row->block.free_stack : 0;
        row->freed_in = function_of_frame(session, freed, session_stack_user(session, freed));
        if (row->freed_in == 0)
            row->freed_in =
                function_of_frame(session, freed, session_stack_call_site(session, freed));
    }
    free(order);
    return good;
}

static bool run_part(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct allocation_part *part = data;
    const size_t capacity = (size_t)part->request.capacity;
    const struct session_row_order order = {(enum session_row_field)part->request.field,
                                            part->request.descending != 0};
    uint64_t *ids = calloc(capacity + 1, sizeof(*ids));
    part->rows = calloc(capacity + 1, sizeof(*part->rows));
    const bool good = ids && part->rows &&
                      selection_rows(selection, &order, part->request.first, capacity, ids,
                                     &part->count, error) &&
                      read_rows(session, ids, part, error);
    if (!good)
        part->count = 0;
    if (!ids || !part->rows)
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    free(ids);
    return good;
}

static const struct allocation_part *load_rows(struct allocations *list, struct browse *browse,
                                               struct load *load, uint64_t first, uint64_t capacity)
{
    static const struct load_kind kind = LOAD_ROWS(allocation_part, run_part, rows);
    const struct allocation_part wanted = {.request = {list->selections,
                                                       (uint64_t)list->order.field,
                                                       list->order.descending, first, capacity}};
    return browse_get(browse, load, &kind, &wanted.request);
}

/* Loads the rows from the first one on the screen on, and some beside them. */
static void allocations_load(struct allocations *list, struct browse *browse, size_t rows)
{
    const size_t block = list->table.first / BLOCK;
    const uint64_t first = block > 0 ? (block - 1) * BLOCK : 0;
    const uint64_t last = ((list->table.first + rows) / BLOCK + 2) * BLOCK;
    const struct allocation_part *part =
        load_rows(list, browse, &list->part_load, first, last - first);
    if (part)
        list->part = part;
}

/* Returns a row of the list, NULL if it has not come yet. */
static const struct allocation_row *row_at(const struct allocations *list, size_t row)
{
    const struct allocation_part *part = list->part;
    if (!part || part->request.selections != list->selections ||
        part->request.field != (uint64_t)list->order.field ||
        (part->request.descending != 0) != list->order.descending || row < part->request.first ||
        row - part->request.first >= part->count)
        return NULL;
    return &part->rows[row - part->request.first];
}

/* ---- the place of a block --------------------------------------------------------------- */

struct place_data {
    struct {
        uint64_t selections, field, descending, id;
    } request;
    uint64_t place;
    bool found;
};

static bool run_place(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct place_data *place = data;
    const struct session_row_order order = {(enum session_row_field)place->request.field,
                                            place->request.descending != 0};
    place->found = selection_place(selection, &order, place->request.id, &place->place, error);
    return place->found || error->message[0] == 0;
}

/* Looks for the place of `wanted`. Returns true if it is found: `*place`. It stops wanting it if it
 * is not in the list. */
static bool find_wanted(struct allocations *list, struct browse *browse, uint64_t *place)
{
    static const struct load_kind kind = LOAD_KIND(place_data, run_place, NULL);
    const struct place_data wanted = {.request = {list->selections, (uint64_t)list->order.field,
                                                  list->order.descending, list->wanted}};
    const struct place_data *answer = browse_get(browse, &list->place_load, &kind, &wanted.request);
    if (!answer)
        return false;
    list->wanted = 0;
    *place = answer->place;
    return answer->found;
}

/* ---- the strip below -------------------------------------------------------------------- */

static bool run_strip(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct allocation_strip *strip = data;
    const uint32_t stack = (uint32_t)strip->request.stack;
    strip->count = session_stack(session, stack, strip->frames, STRIP_FRAMES);
    if (strip->count > STRIP_FRAMES)
        strip->count = STRIP_FRAMES;
    strip->call_site = session_stack_call_site(session, stack);
    const size_t user = session_stack_user(session, stack);
    strip->named = user < strip->count ? user : strip->call_site;
    return true;
}

static void load_strip(struct allocations *list, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(allocation_strip, run_strip, NULL);
    const struct allocation_row *row = row_at(list, list->table.selected);
    list->strip = NULL;
    if (!row)
        return;
    const struct allocation_strip wanted = {.request = {browse->renewals, row->block.stack}};
    list->strip = browse_get(browse, &list->strip_load, &kind, &wanted.request);
}

static const struct table_column allocation_columns[ALLOCATION_COLUMNS] = {
    [ALLOCATION_ID] = {"id", 9, 150, .meaning = "its row in the table allocation"},
    [ALLOCATION_ADDRESS] = {"address", 12, 72, .meaning = "its first byte"},
    [ALLOCATION_SIZE] = {"size", 11, .keep = true, .meaning = "bytes asked for"},
    [ALLOCATION_COUNT] = {"count", 6, 170, .meaning = "objects, as in calloc"},
    [ALLOCATION_TYPE] = {"type", .text = true, .keep = true, .cut = TABLE_CUT_CATEGORY,
                         .meaning = "of what it holds"},
    [ALLOCATION_FUNCTION] = {"function", .text = true, .keep = true, .cut = TABLE_CUT_NAME,
                             .meaning = "that asked for it: the call site"},
    [ALLOCATION_USER] = {"my function", 0, 160, .text = true, .cut = TABLE_CUT_NAME,
                         .meaning = "the innermost one of your own code on the stack",
                         .file = "user"},
    [ALLOCATION_THREAD] = {"thread", 12, 120, .text = true, .meaning = "that allocated it"},
    [ALLOCATION_TIME] = {"time", 10, 90, .meaning = "of the allocation", .file = "alloc_ns"},
    [ALLOCATION_LIFETIME] = {"lifetime", 10, 60,
                             .meaning = "to its free, or more than (>) to the end",
                             .file = "lifetime_ns"},
    [ALLOCATION_FREE_THREAD] = {"freed by", 12, 104, .text = true,
                                .meaning = "the thread that freed it", .file = "free_thread"},
    [ALLOCATION_FREED_IN] = {"freed in", 0, 128, .text = true, .cut = TABLE_CUT_NAME,
                             .meaning = "your function that freed it, if stacks of frees were "
                                        "recorded (mprof-run --free-stacks)",
                             .file = "free_function"},
};

static enum session_row_field allocation_field(size_t column)
{
    static const enum session_row_field fields[ALLOCATION_COLUMNS] = {
        [ALLOCATION_ID] = ROWS_BY_ID,
        [ALLOCATION_ADDRESS] = ROWS_BY_ADDRESS,
        [ALLOCATION_SIZE] = ROWS_BY_SIZE,
        [ALLOCATION_COUNT] = ROWS_BY_COUNT,
        [ALLOCATION_TYPE] = ROWS_BY_TYPE,
        [ALLOCATION_FUNCTION] = ROWS_BY_FUNCTION,
        [ALLOCATION_USER] = ROWS_BY_USER,
        [ALLOCATION_THREAD] = ROWS_BY_THREAD,
        [ALLOCATION_TIME] = ROWS_BY_TIME,
        [ALLOCATION_LIFETIME] = ROWS_BY_LIFETIME,
        [ALLOCATION_FREE_THREAD] = ROWS_BY_FREE_THREAD,
        [ALLOCATION_FREED_IN] = ROWS_AS_FILTERED,
    };
    return column < ALLOCATION_COLUMNS ? fields[column] : ROWS_AS_FILTERED;
}

static void put_number(struct table_cell *cell, uint64_t number)
{
    cell->is_number = true;
    cell->number = number;
    format_count(cell->text, number);
}

static void put_name(struct table_cell *cell, const char *name)
{
    cell->name = name;
}

static void put_none(struct table_cell *cell, const char *text)
{
    snprintf(cell->text, sizeof(cell->text), "%s", text);
    cell->styled = true;
    cell->style = theme_style(THEME_FAINT);
}

static void put_freed_in(struct table_cell *cell, const struct session *session,
                         const struct allocation_row *row)
{
    if (row->freed_in != 0)
        list_function_cell(session, row->freed_in, cell);
    else
        put_none(cell,
                 session_stack_by_collector(session, row->block.free_stack) ? "(collector)" : "-");
}

static void put_lifetime(struct table_cell *cell, const struct session *session,
                         const struct session_allocation *block)
{
    const uint64_t end =
        block->free_ns == SESSION_LIVE ? session_duration_ns(session) : block->free_ns;
    cell->is_number = true;
    cell->number = end > block->alloc_ns ? end - block->alloc_ns : 0;
    const bool live = block->free_ns == SESSION_LIVE;
    cell->text[0] = '>';
    format_duration(cell->text + live, cell->number);
}

/* Writes a cell; a table_source's function. */
static void allocation_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct allocations *list = context;
    const struct session *session = list->browse->session;
    const struct allocation_row *shown = row_at(list, row);
    if (!shown) {
        put_none(cell, column == ALLOCATION_SIZE ? "…" : "");
        return;
    }
    const struct session_allocation *block = &shown->block;
    switch ((enum allocation_column)column) {
    case ALLOCATION_ID:
        put_number(cell, block->id);
        break;
    case ALLOCATION_ADDRESS:
        cell->is_number = true;
        cell->number = block->address;
        snprintf(cell->text, sizeof(cell->text), "%" PRIx64, block->address);
        break;
    case ALLOCATION_SIZE:
        put_number(cell, block->size);
        break;
    case ALLOCATION_COUNT:
        put_number(cell, block->count);
        break;
    case ALLOCATION_TYPE:
        if (block->type != 0)
            put_name(cell, session_type_name(session, block->type));
        else
            put_none(cell, SESSION_UNKNOWN_TYPE);
        break;
    case ALLOCATION_FUNCTION:
        if (block->function != 0)
            list_function_cell(session, block->function, cell);
        else
            put_none(cell, "no call site known");
        break;
    case ALLOCATION_USER:
        if (shown->user != 0)
            list_function_cell(session, shown->user, cell);
        else
            put_none(cell, "-");
        break;
    case ALLOCATION_THREAD:
        put_name(cell, session_thread_label(session, block->thread));
        break;
    case ALLOCATION_TIME:
        cell->is_number = true;
        cell->number = block->alloc_ns;
        format_instant(cell->text, block->alloc_ns);
        break;
    case ALLOCATION_LIFETIME:
        put_lifetime(cell, session, block);
        break;
    case ALLOCATION_FREE_THREAD:
        if (block->free_ns == SESSION_LIVE)
            put_none(cell, "not freed");
        else
            put_name(cell, session_thread_label(session, block->free_thread));
        break;
    default:
        put_freed_in(cell, session, shown);
        break;
    }
}

/* The key of a row that has not come yet: its place, from the top of all numbers down. */
#define PLACE_KEY(row) (UINT64_MAX - (uint64_t)(row))
/* Ids are below it. */
#define FIRST_PLACE_KEY (UINT64_C(1) << 63)

enum { STRIP_ROWS = 4, STRIP_LEAST = 16, WRITTEN_MOST = 50000 };

static void *create(void)
{
    struct allocations *list = calloc(1, sizeof(*list));
    if (list) {
        list->table.sort = ALLOCATION_SIZE;
        list->table.descending = true;
        list->order = (struct session_row_order){ROWS_BY_SIZE, true};
    }
    return list;
}

static void destroy(void *view, struct browse *browse)
{
    struct allocations *list = view;
    LOADS_CLEAR(&browse->loader, &list->part_load, &list->all_load, &list->place_load,
                &list->strip_load);
    function_matchers_clear(&list->matchers, browse);
    free(list);
}

/* ---- the table -------------------------------------------------------------------------- */

static uint64_t row_key(void *context, size_t row)
{
    const struct allocation_row *shown = row_at(context, row);
    return shown ? shown->block.id : PLACE_KEY(row);
}

/* Finds a row by its place, or by its id among the rows that have come. */
static bool find_row(void *context, uint64_t key, size_t *row)
{
    const struct allocations *list = context;
    if (key >= FIRST_PLACE_KEY) {
        *row = (size_t)(UINT64_MAX - key);
        return true;
    }
    const struct allocation_part *part = list->part;
    for (size_t i = 0; part && i < part->count; i++) {
        const size_t place = (size_t)part->request.first + i;
        const struct allocation_row *shown = row_at(list, place);
        if (shown && shown->block.id == key) {
            *row = place;
            return true;
        }
    }
    return false;
}

static struct table_source source_of(const struct allocations *list, const struct browse *browse)
{
    return (struct table_source){
        .context = (void *)list,
        .columns = allocation_columns,
        .column_count = ALLOCATION_COLUMNS,
        .rows = browse->selection ? (size_t)selection_count(browse->selection) : 0,
        .cell = allocation_cell,
        .key = row_key,
        .find = find_row};
}

static struct table_place place_of(int width, int height)
{
    return (struct table_place){0, 0, width, height >= STRIP_LEAST ? height - STRIP_ROWS : height};
}

/* ---- selection -------------------------------------------------------------------------- */

static void select_place(struct allocations *list, struct browse *browse,
                         const struct table_place *place, size_t row)
{
    const struct table_source source = source_of(list, browse);
    const size_t rows = place->height > 1 ? (size_t)place->height - 1 : 1;
    /* A few rows before it show where it lies in the order. */
    list->table.first = row > rows / 3 ? row - rows / 3 : 0;
    table_select(&list->table, &source, row);
    table_settle(&list->table, &source, place);
}

/* Takes a change of the filter: another list, and maybe another order. */
static void take_filter(struct allocations *list, struct browse *browse)
{
    if (list->selections == browse->selections || !browse->selection)
        return;
    list->selections = browse->selections;
    if (selection_is_sorted(browse->selection)) {
        list->table.sort = TABLE_COLUMNS; /* no column of the table */
        list->order = (struct session_row_order){ROWS_AS_FILTERED, false};
    } else if (list->order.field == ROWS_AS_FILTERED) {
        list->table.sort = ALLOCATION_SIZE;
        list->table.descending = true;
        list->order = (struct session_row_order){ROWS_BY_SIZE, true};
    }
    list->wanted = browse->allocation;
    list->table.selected = list->table.first = 0;
    list->table.has_key = false;
    list->selected = 0;
}

/* Goes to the wanted row once its place is known. */
static void follow_wanted(struct allocations *list, struct browse *browse,
                          const struct table_place *place)
{
    uint64_t row;
    if (list->wanted != 0 && list->selections != 0 && find_wanted(list, browse, &row))
        select_place(list, browse, place, (size_t)row);
}

/* Tells the other views what is selected. */
static void note_selected(struct allocations *list, struct browse *browse)
{
    const struct allocation_row *row = row_at(list, list->table.selected);
    if (!row || list->wanted != 0)
        return;
    list->selected = browse->allocation = row->block.id;
    browse->function = row->block.function;
    browse->has_function = row->block.function != 0;
}

/* ---- actions ---------------------------------------------------------------------------- */

static void to_source(const struct allocations *list, struct browse *browse)
{
    const struct allocation_strip *strip = list->strip;
    if (!strip || strip->named >= strip->count || !*strip->frames[strip->named].file)
        browse_complain(browse, "the source of this block's stack is not known");
    else
        browse_open_source(browse, strip->frames[strip->named].file,
                           strip->frames[strip->named].line);
}

/* Does what needs a row. Returns false if the action is another one. */
static bool act_on_row(struct allocations *list, struct browse *browse, enum action action)
{
    const struct allocation_row *row = row_at(list, list->table.selected);
    switch (action) {
    case ACTION_FOLLOW:
    case ACTION_TO_MEMORY:
    case ACTION_OVER_TIME:
    case ACTION_OPEN:
    case ACTION_VIEW_1 + VIEW_RETAINED:
        break;
    default:
        return false;
    }
    if (!row)
        return action < ACTION_VIEW_1; /* the view is shown without a block, too */
    note_selected(list, browse);
    if (action == ACTION_VIEW_1 + VIEW_RETAINED)
        browse_show_holders(browse, row->block.id);
    else if (action == ACTION_FOLLOW)
        browse_show(browse, VIEW_DETAIL);
    else if (action == ACTION_TO_MEMORY)
        block_to_memory(browse, &row->block);
    else if (action == ACTION_OVER_TIME)
        block_to_timeline(browse, &row->block);
    else
        to_source(list, browse);
    return true;
}

static void sort(struct allocations *list)
{
    list->order.field = allocation_field(list->table.sort);
    list->order.descending = list->table.descending;
    list->wanted = list->selected;
    list->table.has_key = false;
    if (list->wanted == 0)
        list->table.selected = list->table.first = 0;
}

static bool update(void *view, struct browse *browse, const struct view_input *input)
{
    struct allocations *list = view;
    const struct table_place place = place_of(input->width, input->height);
    list->browse = browse;
    take_filter(list, browse);
    if (input->action == ACTION_REFRESH && browse->allocation != list->selected)
        list->wanted = browse->allocation;
    follow_wanted(list, browse, &place);
    const struct table_source source = source_of(list, browse);
    bool used = true;
    if (!act_on_row(list, browse, input->action)) {
        const enum table_answer answer =
            list_update_table(browse, &list->table, &source, input, &place);
        used = answer != TABLE_IGNORED;
        if (used && input->action != ACTION_REFRESH)
            list->wanted = 0; /* the user has gone on */
        if (answer == TABLE_SORTED)
            sort(list);
        else if (answer == TABLE_FOLLOW)
            act_on_row(list, browse, ACTION_FOLLOW);
        follow_wanted(list, browse, &place);
    }
    if (!input->more && browse->selection) {
        allocations_load(list, browse, place.height > 0 ? (size_t)place.height : 1);
        if (list->wanted == 0)
            table_settle(&list->table, &source, &place);
        note_selected(list, browse);
        load_strip(list, browse);
        const struct allocation_row *row = row_at(list, list->table.selected);
        if (row)
            block_matchers_load(&list->matchers, browse, &row->block, row->user, 0);
    }
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

static void render_stack(const struct allocation_strip *strip, const struct session *session,
                         const struct area *area, int y)
{
    int x = 1;
    for (size_t i = strip->call_site; i < strip->count && x < area->width - 4; i++) {
        if (i > strip->call_site)
            x += area_text(area, x, y, theme_style(THEME_FAINT), " ← ");
        const char *name = session_function_name(session, strip->frames[i].function);
        const int room = area->width - x - 1;
        const int width = area_name_width(name, room);
        area_name(area, x, y, width, theme_style(i == strip->named ? THEME_STRONG : THEME_PLAIN),
                  name);
        x += width;
    }
}

static void render_strip(const struct allocations *list, const struct browse *browse,
                         const struct area *area)
{
    const struct session *session = browse->session;
    const struct allocation_row *row = row_at(list, list->table.selected);
    const struct cell_style faint = theme_style(THEME_FAINT);
    char time[FORMAT_SIZE];
    for (int x = 0; x < area->width; x++)
        area_put(area, x, 0, 0x2500, faint);
    if (!row)
        return;
    const struct session_allocation *block = &row->block;
    int x = 1 + area_print(area, 1, 1, theme_style(THEME_STRONG), "%" PRIx64 " +%" PRIu64,
                           block->address, block->size);
    x += area_print(
        area, x, 1, faint, "  %s by thread %s at %s", session_kind_name(session, block->kind),
        session_thread_label(session, block->thread), format_instant(time, block->alloc_ns));
    if (block->free_ns == SESSION_LIVE)
        area_text(area, x, 1, faint, ", not freed");
    else
        area_print(area, x, 1, faint, ", freed by %s at %s",
                   session_thread_label(session, block->free_thread),
                   format_instant(time, block->free_ns));
    area_field(area, 1, 2, area->width - 2, theme_style(THEME_GOOD),
               session_type_name(session, block->type));
    if (list->strip)
        render_stack(list->strip, session, area, 3);
}

static void render(const void *view, const struct browse *browse, const struct area *area)
{
    const struct allocations *list = view;
    const struct table_place place = place_of(area->width, area->height);
    const struct table_source source = source_of(list, browse);
    const struct area rows = area_part(area, 0, 0, place.width, place.height);
    table_render(&list->table, &source, &rows);
    if (source.rows == 0)
        list_render_empty(browse, area, 2, browse->selection != NULL);
    if (place.height < area->height) {
        const struct area below =
            area_part(area, 0, place.height, area->width, area->height - place.height);
        render_strip(list, browse, &below);
    }
}

/* ---- offers ----------------------------------------------------------------------------- */

static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    const struct allocations *list = view;
    const struct allocation_row *row = row_at(list, list->table.selected);
    return row ? offer_block(&list->matchers, browse->session, &row->block, row->user, out,
                             capacity)
               : 0;
}

static bool copy(void *view, struct browse *browse, FILE *out)
{
    const struct allocations *list = view;
    const struct table_source source = source_of(list, browse);
    if (!row_at(list, list->table.selected))
        return false;
    table_copy(&source, list->table.selected, out);
    for (size_t i = 0; list->strip && i < list->strip->count; i++) {
        const struct session_frame *frame = &list->strip->frames[i];
        fprintf(out, "  %s", session_function_name(browse->session, frame->function));
        if (*frame->file)
            fprintf(out, "  %s:%" PRIu32, frame->file, frame->line);
        fputc('\n', out);
    }
    return true;
}

/* Returns true if '…' makes a word of a shell of a text, and the screen shows it as it is. */
static bool can_quote(const char *text)
{
    for (; *text; text++)
        if (*text == '\'' || (unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

/* Writes the option that names the process, "" for the one that a session is opened with. Returns
 * false if no word means this one. */
static bool put_process(const struct session *session, char *out, size_t size)
{
    const struct session_process *processes;
    const size_t count = session_processes(session, &processes);
    const uint32_t id = session_selected_process(session);
    const int64_t first = session_meta_number(session, "selected_process");
    const bool is_first = first > 0 && (uint64_t)first <= count ? id == first : id == 0;
    char word[48] = "all";
    uint32_t found;
    struct session_error error;
    out[0] = 0;
    if (is_first)
        return true;
    if (id > 0 && id <= count)
        snprintf(word, sizeof(word), "%" PRId64 ".%" PRIu32, processes[id - 1].pid,
                 processes[id - 1].place);
    snprintf(out, size, " --process %s", word);
    return session_find_process(session, word, &found, &error) && found == id;
}

/* Says that the list is too long: with the command that writes it if the message holds all of it.
 */
static void complain_of_length(struct browse *browse, enum table_format format)
{
    const char *filter = browse->filter[0] ? browse->filter : "all";
    const char *path = session_path(browse->session);
    char process[60], line[sizeof(browse->message)];
    const bool named = put_process(browse->session, process, sizeof(process));
    const int length =
        snprintf(line, sizeof(line),
                 "too long for here: mprof-export --format %s%s --filter '%s' '%s' > FILE",
                 format == TABLE_CSV ? "csv" : "ndjson", process, filter, path);
    if (named && length > 0 && (size_t)length < sizeof(line) && can_quote(filter) &&
        can_quote(path))
        browse_complain(browse, "%s", line);
    else
        browse_complain(
            browse,
            "the list is too long to be written from here: mprof-export --filter writes it");
}

/* Writes the whole list, which is read for that. A longer one is for mprof-export. */
static bool table(void *view, struct browse *browse, FILE *out, enum table_format format)
{
    struct allocations *list = view;
    struct table_source source = source_of(list, browse);
    if (source.rows > WRITTEN_MOST) {
        complain_of_length(browse, format);
        return false;
    }
    struct allocations whole = *list;
    whole.part = load_rows(list, browse, &list->all_load, 0, source.rows);
    if (!whole.part || whole.part->count < source.rows) {
        if (list->all_load.job)
            browse_complain(browse, "the rows are being read: the same again writes them");
        else /* it has failed, and the message says why: the same again tries again */
            load_clear(&browse->loader, &list->all_load);
        return false;
    }
    source.context = &whole;
    table_write(&source, out, format);
    load_clear(&browse->loader, &list->all_load);
    return source.rows > 0;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct allocations *state = view;
    return table_order(&state->table, allocation_columns, ALLOCATION_COLUMNS, order, set);
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "the block's page: stacks, neighbours, what was there before",
     .keys = {KEYCODE_ENTER}, .footer = "detail"},
    {ACTION_TO_MEMORY, "the block in memory", .keys = {'i'}, .footer = "in memory"},
    {ACTION_OVER_TIME, "the moment of its allocation in the timeline", .keys = {'t'},
     .footer = "timeline"},
    {ACTION_VIEW_1 + VIEW_RETAINED, "who keeps this block alive, and what it refers to",
     .keys = {'K'}},
    {ACTION_OPEN, "the innermost line of your own code that allocated it", .keys = {'o'},
     .footer = "source"},
};

const struct view_ops allocations_view = {
    .name = "allocations",
    .title = "Allocations",
    .help = "Every allocation that the filter selects, in any order. Enter on a number of another "
            "view lists here what it counts.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .order = keep_order,
    .table = table,
};
