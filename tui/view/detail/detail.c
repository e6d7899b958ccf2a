/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page about one allocation: both stacks, who freed it, its neighbours at its birth and at its
 * end, what held its address before and after it, its chain of reallocations, and its members.
 */
#include "tui/view/detail/detail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/view/common/block.h"
#include "tui/view/common/list.h"
#include "tui/view/view.h"

enum { COLUMN_LABEL, COLUMN_VALUE, COLUMN_PLACE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_LABEL] = {"about", 22, .text = true, .keep = true, .unsorted = true},
    [COLUMN_VALUE] = {"what", .text = true, .keep = true, .unsorted = true, .cut = TABLE_CUT_NAME},
    [COLUMN_PLACE] = {"where", 28, 76, .text = true, .unsorted = true},
};

static void *create(void)
{
    return calloc(1, sizeof(struct detail));
}

static void destroy(void *view, struct exploration *exploration)
{
    struct detail *detail = view;
    load_clear(&exploration->loader, &detail->facts_load);
    load_clear(&exploration->loader, &detail->around_load);
    load_clear(&exploration->loader, &detail->chain_load);
    function_tests_clear(&detail->tests, exploration);
    free(detail->lines);
    free(detail);
}

/* ---- the table -------------------------------------------------------------------------- */

static const char *last_component(const char *path)
{
    const char *last = strrchr(path, '/');
    return last ? last + 1 : path;
}

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct detail *detail = context;
    const struct detail_line *line = &detail->lines[row];
    out->styled = true;
    out->style = theme_style(column == COLUMN_LABEL && line->role != THEME_HEADING ? THEME_FAINT
                                                                                   : line->role);
    if (column == COLUMN_LABEL) {
        snprintf(out->text, sizeof(out->text), "%s", line->label);
    } else if (column == COLUMN_VALUE) {
        snprintf(out->text, sizeof(out->text), "%s", line->value);
        out->name = line->name;
        out->sentence = !line->name;
    } else if (line->place) {
        snprintf(out->text, sizeof(out->text), "%.200s:%" PRIu32, last_component(line->place),
                 line->line);
    }
}

static uint64_t key(void *context, size_t row)
{
    return ((const struct detail *)context)->lines[row].key;
}

static struct table_source source_of(const struct detail *detail)
{
    return (struct table_source){.context = (void *)detail,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = detail->count,
                                 .cell = cell,
                                 .key = key};
}

static const struct detail_line *selected_line(const struct detail *detail)
{
    return detail->table.selected < detail->count ? &detail->lines[detail->table.selected] : NULL;
}

/* ---- actions ---------------------------------------------------------------------------- */

static void show(struct detail *detail, struct exploration *exploration, uint64_t id)
{
    detail->shown = exploration->allocation = id;
    detail->table.selected = detail->table.first = 0;
    detail->table.has_key = false;
}

/* Shows another block. Esc comes back to this one. */
static void go_to(struct detail *detail, struct exploration *exploration, uint64_t id)
{
    if (id == detail->shown)
        return;
    if (detail->trail_length == DETAIL_TRAIL) {
        memmove(detail->trail, detail->trail + 1, sizeof(detail->trail) - sizeof(*detail->trail));
        detail->trail_length--;
    }
    detail->trail[detail->trail_length++] = detail->shown;
    show(detail, exploration, id);
}

static void open_source(const struct detail_line *line, struct exploration *exploration)
{
    if (line && line->place)
        exploration_open_source(exploration, line->place, line->line);
    else
        exploration_say(exploration, "no place in the source on this line: choose a frame");
}

static void follow(struct detail *detail, struct exploration *exploration)
{
    const struct detail_line *line = selected_line(detail);
    if (line && line->allocation != 0)
        go_to(detail, exploration, line->allocation);
    else
        open_source(line, exploration);
}

/* Returns false if the action is another one. */
static bool act(struct detail *detail, struct exploration *exploration, enum action action)
{
    switch (action) {
    case ACTION_FOLLOW:
        follow(detail, exploration);
        return true;
    case ACTION_OPEN:
        open_source(selected_line(detail), exploration);
        return true;
    case ACTION_TO_MEMORY:
        if (detail->facts)
            block_to_memory(exploration, &detail->facts->block);
        return true;
    case ACTION_OVER_TIME:
        if (detail->facts)
            block_to_timeline(exploration, &detail->facts->block);
        return true;
    case ACTION_BACK:
        if (detail->trail_length == 0)
            return false;
        show(detail, exploration, detail->trail[--detail->trail_length]);
        return true;
    default:
        return false;
    }
}

/* Takes the block that another view has selected. */
static void take_wish(struct detail *detail, struct exploration *exploration)
{
    if (detail->renewals != exploration->renewals && exploration->sought.ns == 0) {
        /* The same block in a newer state, under another id. The ids of the trail are gone. */
        detail->renewals = exploration->renewals;
        detail->shown = exploration->allocation;
        detail->trail_length = 0;
    }
    if (exploration->allocation == detail->shown)
        return;
    detail->trail_length = 0;
    show(detail, exploration, exploration->allocation);
}

/* Returns the function of the user's frame, 0: none. */
static uint32_t detail_user(const struct detail_facts *facts)
{
    return facts->user < DETAIL_FRAMES ? facts->born.frames[facts->user].function : 0;
}

static void load_tests(struct detail *detail, struct exploration *exploration)
{
    const struct detail_facts *facts = detail->facts;
    const struct detail_line *line = selected_line(detail);
    if (facts)
        block_tests_load(&detail->tests, exploration, &facts->block, detail_user(facts),
                         line ? line->function : 0);
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct detail *detail = view;
    const struct table_place place = {0, 0, input->width, input->height};
    take_wish(detail, exploration);
    bool used = act(detail, exploration, input->action);
    if (!used) {
        const struct table_source source = source_of(detail);
        const enum table_answer answer =
            list_update(exploration, &detail->table, &source, input, &place);
        used = answer != TABLE_IGNORED;
        if (answer == TABLE_FOLLOW)
            follow(detail, exploration);
    }
    detail_load(detail, exploration);
    detail_write_lines(detail, exploration);
    const struct table_source source = source_of(detail);
    table_settle(&detail->table, &source, &place);
    if (!input->more)
        load_tests(detail, exploration);
    return used;
}

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct detail *detail = view;
    const struct table_source source = source_of(detail);
    table_render(&detail->table, &source, area);
    if (detail->shown == 0 && exploration->sought.ns == 0)
        area_text(area, 2, 2, theme_style(THEME_FAINT),
                  "no allocation is selected: choose one in the list (8) and press Enter");
    else if (detail->facts && !detail->facts->found)
        area_text(area, 2, 2, theme_style(THEME_FAINT),
                  "this allocation is not known here: choose one in the list (8) and press Enter");
    else if (detail->count == 0)
        list_render_empty(exploration, area, 2, false);
}

/* ---- offers ----------------------------------------------------------------------------- */

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    static const struct function_words allocated = {
        "allocated under this function", "allocated under each function of this name", false};
    static const struct function_words freed = {"freed under this function",
                                                "freed under each function of this name", true};
    const struct detail *detail = view;
    const struct detail_facts *facts = detail->facts;
    const struct detail_line *line = selected_line(detail);
    if (!facts)
        return 0;
    const size_t count = function_tests_offer(
        &detail->tests, exploration->session, SESSION_ANYWHERE, line ? line->function : 0,
        line && line->frees ? &freed : &allocated, out, capacity);
    /* Its function is awaited: `l` is not for the block in its place. */
    if (line && line->function != 0 && count == 0)
        return 0;
    return count + offer_block(&detail->tests, exploration->session, &facts->block,
                               detail_user(facts), out + count, capacity - count);
}

/* Copies the whole page. */
static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct detail *detail = view;
    (void)exploration;
    for (size_t i = 0; i < detail->count; i++) {
        const struct detail_line *line = &detail->lines[i];
        fprintf(out, "%-24s%s", line->label, line->name ? line->name : line->value);
        if (line->place)
            fprintf(out, "  %s:%" PRIu32, line->place, line->line);
        fputc('\n', out);
    }
    return detail->count > 0;
}

static bool table(void *view, struct exploration *exploration, FILE *out, enum table_format format)
{
    const struct table_source source = source_of(view);
    (void)exploration;
    table_write(&source, out, format);
    return source.rows > 0;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "follow",
     .description = "the block of the line, or the source of the frame"},
    {.keys = {'i'},
     .action = ACTION_TO_MEMORY,
     .footer = "in memory",
     .description = "the block in memory"},
    {.keys = {'t'},
     .action = ACTION_OVER_TIME,
     .footer = "timeline",
     .description = "the moment of its allocation in the timeline"},
    {.keys = {'o'}, .action = ACTION_OPEN, .footer = "source", .description = "its source"},
};

const struct view_ops detail_view = {
    .name = "detail",
    .title = "Detail",
    .help = "All that is known about one allocation: who allocated and freed it, what lay beside "
            "it, and what its address held before and after it.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .table = table,
};
