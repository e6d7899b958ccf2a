/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of the list of allocations. */
#include <inttypes.h>
#include <stdio.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/allocations/allocations.h"
#include "tui/view/common/list.h"

const struct table_column allocation_columns[ALLOCATION_COLUMNS] = {
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
                             .meaning = "to its free, or to the end if it was not freed",
                             .file = "lifetime_ns"},
    [ALLOCATION_FREE_THREAD] = {"freed by", 12, 104, .text = true,
                                .meaning = "the thread that freed it", .file = "free_thread"},
    [ALLOCATION_FREED_IN] = {"freed in", 0, 128, .text = true, .cut = TABLE_CUT_NAME,
                             .meaning = "your function that freed it, if stacks of frees were "
                                        "recorded (mprof-run --free-stacks)",
                             .file = "free_function"},
};

enum session_row_field allocation_field(size_t column)
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
    format_duration(cell->text, cell->number);
}

void allocation_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct allocations *list = context;
    const struct session *session = list->exploration->session;
    const struct allocation_row *shown = allocation_row_at(list, row);
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
