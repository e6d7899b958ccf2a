/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the pane: members of the selected type, candidates, and what breakdown.h gives. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/types/types.h"

/* ---- members ---------------------------------------------------------------------------- */

enum member_column { MEMBER_OFFSET, MEMBER_SIZE, MEMBER_NAME, MEMBER_TYPE, MEMBER_COLUMNS };

static const struct table_column member_columns[MEMBER_COLUMNS] = {
    [MEMBER_OFFSET] = {.title = "offset", .width = 6, .keep = true, .unsorted = true},
    [MEMBER_SIZE] = {.title = "bytes", .width = 6, .keep = true, .unsorted = true},
    [MEMBER_NAME] = {.title = "member", .text = true, .keep = true, .unsorted = true},
    [MEMBER_TYPE] = {.title = "type",
                     .text = true,
                     .least_width = 40,
                     .unsorted = true,
                     .cut = TABLE_CUT_CATEGORY},
};

static void member_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct types *types = context;
    const struct type_member_row *shown = &types->members->rows[row];
    cell->styled = shown->padding;
    cell->style = theme_style(THEME_WARNING);
    switch (column) {
    case MEMBER_OFFSET:
    case MEMBER_SIZE:
        cell->is_number = true;
        cell->number = column == MEMBER_OFFSET ? shown->member.offset : shown->member.size;
        snprintf(cell->text, sizeof(cell->text), "%" PRIu64, cell->number);
        break;
    case MEMBER_NAME:
        cell->name = shown->padding          ? "(padding)"
                     : shown->member.name[0] ? shown->member.name
                                             : "(base or no name)";
        break;
    default:
        cell->name = shown->member.type;
        break;
    }
}

static uint64_t member_key(void *context, size_t row)
{
    (void)context;
    return row;
}

/* ---- candidates ------------------------------------------------------------------------- */

enum candidate_column {
    CANDIDATE_BYTES,
    CANDIDATE_COUNT,
    CANDIDATE_SIZE,
    CANDIDATE_LIVE,
    CANDIDATE_FUNCTION,
    CANDIDATE_NAMES,
    CANDIDATE_COLUMNS
};

static const struct table_column candidate_columns[CANDIDATE_COLUMNS] = {
    [CANDIDATE_BYTES] = {.title = "bytes", .width = 6, .keep = true},
    [CANDIDATE_COUNT] = {.title = "count", .width = 6, .least_width = 40},
    [CANDIDATE_SIZE] = {.title = "size", .width = 6, .least_width = 50},
    [CANDIDATE_LIVE] = {.title = "live", .width = 6, .least_width = 60},
    [CANDIDATE_FUNCTION] = {.title = "allocated by",
                            .text = true,
                            .least_width = 90,
                            .cut = TABLE_CUT_NAME},
    [CANDIDATE_NAMES] = {.title = "would fit, none is known to be right",
                         .text = true,
                         .keep = true},
};

static uint64_t candidate_value(const struct session_type_candidates *row, size_t column)
{
    const uint64_t values[] = {row->bytes, row->allocations, row->size, row->live_bytes};
    return column < CANDIDATE_FUNCTION ? values[column] : 0;
}

static const char *candidate_text(const struct types *types,
                                  const struct session_type_candidates *row, size_t column)
{
    if (column == CANDIDATE_NAMES)
        return row->names;
    return row->function ? session_function_name(types->session, row->function)
                         : "no call site known";
}

static void candidate_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct types *types = context;
    const struct session_type_candidates *shown = &types->candidates->rows[row];
    if (column >= CANDIDATE_FUNCTION) {
        cell->name = candidate_text(types, shown, column);
        return;
    }
    cell->is_number = true;
    cell->number = candidate_value(shown, column);
    if (column == CANDIDATE_COUNT)
        format_count_short(cell->text, cell->number);
    else
        format_size_short(cell->text, cell->number);
}

static uint64_t candidate_key(void *context, size_t row)
{
    const struct types *types = context;
    const struct session_type_candidates *shown = &types->candidates->rows[row];
    uint64_t names = 0; /* rows of one function and size differ by their names */
    for (const char *at = shown->names; *at; at++)
        names = names * 31 + (unsigned char)*at;
    return (uint64_t)shown->function << 32 ^ shown->size ^ names << 16;
}

static int compare_candidates(const void *left, const void *right, void *context)
{
    const struct session_type_candidates *a = left, *b = right;
    const struct types *types = context;
    const struct table *table = &types->pair.side;
    const uint64_t x = candidate_value(a, table->sort), y = candidate_value(b, table->sort);
    int order = x < y ? -1 : x > y;
    if (table->sort >= CANDIDATE_FUNCTION)
        order =
            strcmp(candidate_text(types, a, table->sort), candidate_text(types, b, table->sort));
    if (order != 0)
        return table->descending ? -order : order;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return strcmp(a->names, b->names);
}

/* ---- all -------------------------------------------------------------------------------- */

struct table_source types_pane_source(const struct types *types)
{
    if (types_shows_candidates(types))
        return (struct table_source){.context = (void *)types,
                                     .columns = candidate_columns,
                                     .column_count = CANDIDATE_COLUMNS,
                                     .rows = types->candidates ? types->candidates->count : 0,
                                     .about = types->estimated ? "~" : NULL,
                                     .cell = candidate_cell,
                                     .key = candidate_key};
    if (types->pane == TYPE_MEMBERS_PANE)
        return (struct table_source){.context = (void *)types,
                                     .columns = member_columns,
                                     .column_count = MEMBER_COLUMNS,
                                     .rows = types->members ? types->members->count : 0,
                                     .cell = member_cell,
                                     .key = member_key};
    return breakdown_source(&types->breakdown);
}

void types_pane_sort(struct types *types)
{
    if (types_shows_candidates(types)) {
        if (types->candidates && types->candidates->count > 1)
            qsort_r(types->candidates->rows, types->candidates->count,
                    sizeof(*types->candidates->rows), compare_candidates, types);
    } else if (types->pane != TYPE_MEMBERS_PANE) {
        breakdown_sort(&types->breakdown, &types->pair.side);
    }
}
