/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/diff/counted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/explore/explore.h"
#include "tui/screen/format.h"

/* Writes the stacks of a path, runs of numbers as ranges. Stack 0 is none. */
static void write_stacks(FILE *out, const struct compare_row *row)
{
    const bool none = row->stack_count == 0 || row->stacks[0] == 0;
    size_t i = none && row->stack_count > 0 ? 1 : 0;
    const bool both = none && i < row->stack_count;
    const char *between = "stack in (";
    fputs(both ? "(stack is null or " : none ? "stack is null" : "", out);
    for (size_t last; i < row->stack_count; i = last + 1, between = ", ") {
        for (last = i;
             last + 1 < row->stack_count && row->stacks[last + 1] == row->stacks[last] + 1;)
            last++;
        fprintf(out, last > i ? "%s%" PRIu32 "..%" PRIu32 : "%s%" PRIu32, between, row->stacks[i],
                row->stacks[last]);
    }
    fputs(both ? "))" : none ? "" : ")", out);
}

/* Writes the test for the type, function or path of a row. Returns false if memory is exhausted. */
static bool write_which(FILE *out, const struct compare_row *row, enum session_growth_by by)
{
    static const char *const fields[] = {[SESSION_GROWTH_TYPE] = "type",
                                         [SESSION_GROWTH_FUNCTION] = "function",
                                         [SESSION_GROWTH_USER] = "user"};
    if (by == SESSION_GROWTH_STACK) {
        write_stacks(out, row);
        return true;
    }
    if (row->id == 0) {
        fprintf(out, "%s is null", fields[by]);
        return true;
    }
    char *quoted = filter_quoted(row->name);
    if (quoted)
        fprintf(out, "%s == %s", fields[by], quoted);
    free(quoted);
    return quoted != NULL;
}

/* Writes the test for the times. */
static void write_times(FILE *out, enum counted counted, const struct counted_times *times)
{
    char early[FORMAT_SIZE], late[FORMAT_SIZE], end[FORMAT_SIZE];
    const bool back = times->after_ns < times->before_ns;
    format_filter_time(early, back ? times->after_ns : times->before_ns);
    format_filter_time(late, back ? times->before_ns : times->after_ns);
    format_filter_time(end, times->after_ns);
    if (counted == COUNTED_LIVE || times->two_sessions)
        fprintf(out, "alloc_time <= %s and (freed == false or free_time > %s)", end, end);
    else if ((counted == COUNTED_WENT) != back)
        fprintf(out, "alloc_time <= %s and free_time > %s and free_time <= %s", early, early, late);
    else
        fprintf(out, "alloc_time > %s and alloc_time <= %s and (freed == false or free_time > %s)",
                early, late, late);
}

char *counted_step(const struct compare_row *row, enum session_growth_by by, enum counted counted,
                   const struct counted_times *times)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("where ", out);
    write_times(out, counted, times);
    fputs(" and ", out);
    const bool good = write_which(out, row, by);
    if (fclose(out) == 0 && good)
        return text;
    free(text);
    return NULL;
}
