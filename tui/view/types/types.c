/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of types: what it does with actions. */
#include "tui/view/types/types.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tui/screen/format.h"
#include "tui/view/view.h"

static void *create(void)
{
    struct types *types = calloc(1, sizeof(*types));
    if (types) {
        types->pair.main.descending = true;
        types->pair.main.sort = 3; /* at peak */
        types->pair.side.blurred = true;
        types->shown = UINT64_MAX; /* no type, not even the unknown one */
    }
    return types;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct types *types = view;
    load_clear(&exploration->loader, &types->rows_load);
    load_clear(&exploration->loader, &types->courses_load);
    load_clear(&exploration->loader, &types->members_load);
    load_clear(&exploration->loader, &types->candidates_load);
    breakdown_clear(&types->breakdown, exploration);
    free(types->order);
    free(types);
}

/* ---- update ----------------------------------------------------------------------------- */

static void list_type(const struct types *types, struct exploration *exploration)
{
    const struct session_type_sums *row = types_selected(types);
    char step[BREAKDOWN_STEP];
    if (!row)
        return;
    if (types_step(types, row->type, step, sizeof(step)))
        exploration_list(exploration, step);
    else
        exploration_complain(exploration, "the name of the type is too long for a filter");
}

/* Lists the blocks of the pane's row. */
static void list_part(const struct types *types, struct exploration *exploration)
{
    const size_t place = types->pair.side.selected;
    char step[2 * BREAKDOWN_STEP];
    if (types_shows_candidates(types)) {
        if (!types->candidates || place >= types->candidates->count)
            return;
        const struct session_type_candidates *row = &types->candidates->rows[place];
        char *where;
        if (asprintf(&where, "where type is null and size == %" PRIu64 " and %s", row->size,
                     row->stacks) < 0) {
            exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
            return;
        }
        exploration_list(exploration, where);
        free(where);
    } else if (types->pane == TYPE_MEMBERS_PANE) {
        list_type(types, exploration);
    } else {
        const struct breakdown_row *row = breakdown_selected(&types->breakdown, &types->pair.side);
        if (row && breakdown_step(&types->breakdown, row, step, sizeof(step)))
            exploration_list(exploration, step);
        else if (row)
            exploration_complain(exploration, "the name is too long for a filter");
    }
}

static void change_pane(struct types *types, struct exploration *exploration)
{
    static const char *const names[] = {"members", "functions that allocate the type",
                                        "owners of the type's blocks"};
    types->pane = (enum type_pane)((types->pane + 1) % TYPE_PANES);
    exploration_say(exploration, "%s", names[types->pane]);
}

static bool act(struct types *types, struct exploration *exploration,
                const struct view_input *input)
{
    const struct pair_tables tables = types_tables(types, input->width, input->height);
    if (input->action == ACTION_MEMBERS) {
        change_pane(types, exploration);
        return true;
    }
    switch (pair_update(&types->pair, exploration, &tables, input)) {
    case PAIR_IGNORED:
        return false;
    case PAIR_MAIN_SORTED:
        types_sort(types);
        pair_settle(&types->pair, &tables);
        break;
    case PAIR_SIDE_SORTED:
        types_pane_sort(types);
        pair_settle(&types->pair, &tables);
        break;
    case PAIR_MAIN_FOLLOW:
        list_type(types, exploration);
        break;
    case PAIR_SIDE_FOLLOW:
        list_part(types, exploration);
        break;
    case PAIR_USED:
        break;
    }
    return true;
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct types *types = view;
    /* A burst of keys loads the pane only for a key that uses it. */
    const bool needs_pane = types->pair.in_side || input->action == ACTION_NEXT_PANE ||
                            input->action == ACTION_PREVIOUS_PANE || input->action == ACTION_CLICK;
    types_load(types, exploration, false);
    struct pair_tables tables = types_tables(types, input->width, input->height);
    table_settle(&types->pair.main, &tables.main, &tables.panes.main);
    if (needs_pane)
        types_load(types, exploration, true);
    bool used = input->action == ACTION_REFRESH;
    if (!used && types->data)
        used = act(types, exploration, input);
    else if (!used)
        used = input->action != ACTION_BACK;
    if (input->more)
        return used;
    types_load(types, exploration, true);
    tables = types_tables(types, input->width, input->height);
    pair_settle(&types->pair, &tables);
    return used;
}

/* ---- text ------------------------------------------------------------------------------- */

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct types *types = view;
    const struct session_type_sums *row = types_selected(types);
    size_t count = 0;
    (void)exploration;
    if (!row || capacity < 2)
        return 0;
    if (types->pair.in_side && types->pane != TYPE_MEMBERS_PANE) {
        const struct breakdown_row *part = breakdown_selected(&types->breakdown, &types->pair.side);
        if (part && breakdown_step(&types->breakdown, part, out[count].step, sizeof(out->step)))
            snprintf(out[count++].label, sizeof(out->label), "this type, %s: %.80s",
                     types->pane == TYPE_OWNERS_PANE ? "owner" : "function",
                     part->name ? part->name : SESSION_UNKNOWN_TYPE);
    }
    if (types_step(types, row->type, out[count].step, sizeof(out->step)))
        snprintf(out[count++].label, sizeof(out->label), "this type: %.100s",
                 types_name(types, row->type));
    return count;
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct types *types = view;
    const struct session_type_sums *row = types_selected(types);
    char confidence[TYPE_CONFIDENCE_TEXT];
    (void)exploration;
    if (!row)
        return false;
    fprintf(out,
            "%s (%s): %" PRIu64 " bytes in %" PRIu64 " allocations, %" PRIu64 " bytes live at the "
            "end, %" PRIu64 " at the program's peak\n",
            types_name(types, row->type), types_confidence(confidence, row), row->bytes,
            row->allocations, row->live_bytes, row->at_peak_bytes);
    for (size_t i = 0; types->members && i < types->members->count; i++) {
        const struct type_member_row *shown = &types->members->rows[i];
        fprintf(out, "  %4" PRIu64 " %4" PRIu64 "  %s  %s\n", shown->member.offset,
                shown->member.size, shown->padding ? "(padding)" : shown->member.name,
                shown->member.type);
    }
    return true;
}

static bool write_table(void *view, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    const struct types *types = view;
    const struct table_source source = types_source(types);
    (void)exploration;
    if (!types->data)
        return false;
    table_write(&source, out, format);
    return true;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "list",
     .description = "list the blocks of the type; in the pane: those of its row"},
    {.keys = {KEYCODE_TAB},
     .action = ACTION_NEXT_PANE,
     .footer = "pane",
     .description = "into the pane, and back"},
    {.keys = {'m'},
     .action = ACTION_MEMBERS,
     .footer = "members/functions/owners",
     .description = "the pane shows members, functions that allocate, owners of containers"},
};

const struct view_ops types_view = {
    .name = "types",
    .title = "Types",
    .help = "The types of the blocks. Blocks of unknown type are a row of their own; names that "
            "would fit them are in its pane, and never an answer.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = types_render,
    .offers = offers,
    .copy = copy,
    .order = types_keep_order,
    .table = write_table,
};
