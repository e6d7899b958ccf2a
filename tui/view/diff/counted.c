/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/diff/counted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/explore/explore.h"
#include "tui/screen/format.h"

static int compare_ids(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Writes the stacks of a path, each once. */
static void write_stacks(FILE *out, const struct compare_row *row)
{
    bool first = true;
    if (row->stack_count == 0 || row->stacks[0] == 0) {
        fputs("stack is null", out);
        return;
    }
    qsort(row->stacks, row->stack_count, sizeof(*row->stacks), compare_ids);
    for (size_t i = 0; i < row->stack_count; i++) {
        if (i > 0 && row->stacks[i] == row->stacks[i - 1])
            continue;
        fprintf(out, "%s%" PRIu32, first ? "stack in (" : ", ", row->stacks[i]);
        first = false;
    }
    fputc(')', out);
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
