/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of allocations behind every number: those of the active filter, sorted by any column.
 * The engine gives the rows on the screen (session/rows.h), so the list may have 100 million.
 */
#include "tui/view/allocations/allocations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/block.h"
#include "tui/view/common/list.h"
#include "tui/view/view.h"

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

static void destroy(void *view, struct exploration *exploration)
{
    struct allocations *list = view;
    load_clear(&exploration->loader, &list->part_load);
    load_clear(&exploration->loader, &list->all_load);
    load_clear(&exploration->loader, &list->place_load);
    load_clear(&exploration->loader, &list->strip_load);
    function_tests_clear(&list->tests, exploration);
    free(list);
}

/* ---- the table -------------------------------------------------------------------------- */

static uint64_t row_key(void *context, size_t row)
{
    const struct allocation_row *shown = allocation_row_at(context, row);
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
        const struct allocation_row *shown = allocation_row_at(list, place);
        if (shown && shown->block.id == key) {
            *row = place;
            return true;
        }
    }
    return false;
}

static struct table_source source_of(const struct allocations *list,
                                     const struct exploration *exploration)
{
    return (struct table_source){
        .context = (void *)list,
        .columns = allocation_columns,
        .column_count = ALLOCATION_COLUMNS,
        .rows = exploration->selection ? (size_t)selection_count(exploration->selection) : 0,
        .cell = allocation_cell,
        .key = row_key,
        .find = find_row};
}

static struct table_place place_of(int width, int height)
{
    return (struct table_place){0, 0, width, height >= STRIP_LEAST ? height - STRIP_ROWS : height};
}

/* ---- selection -------------------------------------------------------------------------- */

static void select_place(struct allocations *list, struct exploration *exploration,
                         const struct table_place *place, size_t row)
{
    const struct table_source source = source_of(list, exploration);
    const size_t rows = place->height > 1 ? (size_t)place->height - 1 : 1;
    /* A few rows before it show where it lies in the order. */
    list->table.first = row > rows / 3 ? row - rows / 3 : 0;
    table_select(&list->table, &source, row);
    table_settle(&list->table, &source, place);
}

/* Takes a change of the filter: another list, and maybe another order. */
static void take_filter(struct allocations *list, struct exploration *exploration)
{
    if (list->selections == exploration->selections || !exploration->selection)
        return;
    list->selections = exploration->selections;
    if (selection_is_sorted(exploration->selection)) {
        list->table.sort = TABLE_COLUMNS; /* no column of the table */
        list->order = (struct session_row_order){ROWS_AS_FILTERED, false};
    } else if (list->order.field == ROWS_AS_FILTERED) {
        list->table.sort = ALLOCATION_SIZE;
        list->table.descending = true;
        list->order = (struct session_row_order){ROWS_BY_SIZE, true};
    }
    list->wanted = exploration->allocation;
    list->table.selected = list->table.first = 0;
    list->table.has_key = false;
    list->selected = 0;
}

/* Goes to the wanted row once its place is known. */
static void follow_wanted(struct allocations *list, struct exploration *exploration,
                          const struct table_place *place)
{
    uint64_t row;
    if (list->wanted != 0 && list->selections != 0 &&
        allocations_find_wanted(list, exploration, &row))
        select_place(list, exploration, place, (size_t)row);
}

/* Tells the other views what is selected. */
static void note_selected(struct allocations *list, struct exploration *exploration)
{
    const struct allocation_row *row = allocation_row_at(list, list->table.selected);
    if (!row || list->wanted != 0)
        return;
    list->selected = exploration->allocation = row->block.id;
    exploration->stack = row->block.stack;
    exploration->has_stack = true;
    exploration->function = row->block.function;
    exploration->has_function = row->block.function != 0;
}

/* ---- actions ---------------------------------------------------------------------------- */

static void to_source(const struct allocations *list, struct exploration *exploration)
{
    const struct allocation_strip *strip = list->strip;
    if (!strip || strip->call_site >= strip->count || !*strip->frames[strip->call_site].file)
        exploration_complain(exploration, "the call site's source is not known");
    else
        exploration_open_source(exploration, strip->frames[strip->call_site].file,
                                strip->frames[strip->call_site].line);
}

/* Does what needs a row. Returns false if the action is another one. */
static bool act_on_row(struct allocations *list, struct exploration *exploration,
                       enum action action)
{
    const struct allocation_row *row = allocation_row_at(list, list->table.selected);
    switch (action) {
    case ACTION_FOLLOW:
    case ACTION_TO_MEMORY:
    case ACTION_OVER_TIME:
    case ACTION_OPEN:
        break;
    default:
        return false;
    }
    if (!row)
        return true;
    note_selected(list, exploration);
    if (action == ACTION_FOLLOW)
        exploration_show(exploration, VIEW_DETAIL);
    else if (action == ACTION_TO_MEMORY)
        block_to_memory(exploration, &row->block);
    else if (action == ACTION_OVER_TIME)
        block_to_timeline(exploration, &row->block);
    else
        to_source(list, exploration);
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

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct allocations *list = view;
    const struct table_place place = place_of(input->width, input->height);
    list->exploration = exploration;
    take_filter(list, exploration);
    if (input->action == ACTION_REFRESH && exploration->allocation != list->selected)
        list->wanted = exploration->allocation;
    follow_wanted(list, exploration, &place);
    const struct table_source source = source_of(list, exploration);
    bool used = true;
    if (!act_on_row(list, exploration, input->action)) {
        const enum table_answer answer =
            list_update(exploration, &list->table, &source, input, &place);
        used = answer != TABLE_IGNORED;
        if (used && input->action != ACTION_REFRESH)
            list->wanted = 0; /* the user has gone on */
        if (answer == TABLE_SORTED)
            sort(list);
        else if (answer == TABLE_FOLLOW)
            act_on_row(list, exploration, ACTION_FOLLOW);
        follow_wanted(list, exploration, &place);
    }
    if (!input->more && exploration->selection) {
        allocations_load(list, exploration, place.height > 0 ? (size_t)place.height : 1);
        if (list->wanted == 0)
            table_settle(&list->table, &source, &place);
        note_selected(list, exploration);
        allocations_load_strip(list, exploration);
        const struct allocation_row *row = allocation_row_at(list, list->table.selected);
        if (row)
            block_tests_load(&list->tests, exploration, &row->block, row->user, 0);
    }
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

/* Draws the stack from the call site outwards in one row. */
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
        area_name(area, x, y, width,
                  theme_style(i == strip->call_site ? THEME_STRONG : THEME_PLAIN), name);
        x += width;
    }
}

static void render_strip(const struct allocations *list, const struct exploration *exploration,
                         const struct area *area)
{
    const struct session *session = exploration->session;
    const struct allocation_row *row = allocation_row_at(list, list->table.selected);
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

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct allocations *list = view;
    const struct table_place place = place_of(area->width, area->height);
    const struct table_source source = source_of(list, exploration);
    const struct area rows = area_part(area, 0, 0, place.width, place.height);
    table_render(&list->table, &source, &rows);
    if (source.rows == 0)
        list_render_empty(exploration, area, 2, exploration->selection != NULL);
    if (place.height < area->height) {
        const struct area below =
            area_part(area, 0, place.height, area->width, area->height - place.height);
        render_strip(list, exploration, &below);
    }
}

/* ---- offers ----------------------------------------------------------------------------- */

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct allocations *list = view;
    const struct allocation_row *row = allocation_row_at(list, list->table.selected);
    return row ? offer_block(&list->tests, exploration->session, &row->block, row->user, out,
                             capacity)
               : 0;
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct allocations *list = view;
    const struct table_source source = source_of(list, exploration);
    if (!allocation_row_at(list, list->table.selected))
        return false;
    table_copy(&source, list->table.selected, out);
    for (size_t i = 0; list->strip && i < list->strip->count; i++) {
        const struct session_frame *frame = &list->strip->frames[i];
        fprintf(out, "  %s", session_function_name(exploration->session, frame->function));
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
static void complain_of_length(struct exploration *exploration, enum table_format format)
{
    const char *filter = exploration->filter[0] ? exploration->filter : "all";
    const char *path = session_path(exploration->session);
    char process[60], line[sizeof(exploration->message)];
    const bool named = put_process(exploration->session, process, sizeof(process));
    const int length =
        snprintf(line, sizeof(line),
                 "too long for here: mprof-export --format %s%s --filter '%s' '%s' > FILE",
                 format == TABLE_CSV ? "csv" : "ndjson", process, filter, path);
    if (named && length > 0 && (size_t)length < sizeof(line) && can_quote(filter) &&
        can_quote(path))
        exploration_complain(exploration, "%s", line);
    else
        exploration_complain(
            exploration,
            "the list is too long to be written from here: mprof-export --filter writes it");
}

/* Writes the whole list, which is read for that. A longer one is for mprof-export. */
static bool table(void *view, struct exploration *exploration, FILE *out, enum table_format format)
{
    struct allocations *list = view;
    struct table_source source = source_of(list, exploration);
    if (source.rows > WRITTEN_MOST) {
        complain_of_length(exploration, format);
        return false;
    }
    struct allocations whole = *list;
    whole.part = allocations_load_all(list, exploration, source.rows);
    if (!whole.part || whole.part->count < source.rows) {
        if (list->all_load.job)
            exploration_complain(exploration,
                                 "the rows are being read: the same again writes them");
        else /* it has failed, and the message says why: the same again tries again */
            load_clear(&exploration->loader, &list->all_load);
        return false;
    }
    source.context = &whole;
    table_write(&source, out, format);
    load_clear(&exploration->loader, &list->all_load);
    return source.rows > 0;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct allocations *state = view;
    return table_order(&state->table, allocation_columns, ALLOCATION_COLUMNS, order, set);
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "detail",
     .description = "the block's page: stacks, neighbours, what was there before"},
    {.keys = {'i'},
     .action = ACTION_TO_MEMORY,
     .footer = "in memory",
     .description = "the block in memory"},
    {.keys = {'t'},
     .action = ACTION_OVER_TIME,
     .footer = "timeline",
     .description = "the moment of its allocation in the timeline"},
    {.keys = {'o'},
     .action = ACTION_OPEN,
     .footer = "source",
     .description = "the source of its call site"},
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
