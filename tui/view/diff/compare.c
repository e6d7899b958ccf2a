/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/diff/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/hash.h"
#include "tui/screen/format.h"
#include "tui/view/common/list.h"
#include "tui/view/common/moments.h"

/* ---- names ------------------------------------------------------------------------------ */

/* Returns the name of a function as the later session has it. NULL: memory is exhausted. */
static char *function_of(const struct compare_side *side, const char *name)
{
    return side->same ? same_modules_name(side->same, "function", name) : strdup(name);
}

/* Returns the functions of a stack as text, the call site's first, or NULL if memory is exhausted.
 */
static char *path_of(const struct compare_side *side, uint32_t stack)
{
    const size_t count = session_stack(side->session, stack, NULL, 0);
    const size_t site = session_stack_call_site(side->session, stack);
    struct session_frame *frames = calloc(count + 1, sizeof(*frames));
    char *text = NULL;
    size_t size = 0;
    FILE *out = frames ? open_memstream(&text, &size) : NULL;
    bool good = out != NULL;
    if (good && count == 0)
        fputs("no stack", out);
    if (good)
        session_stack(side->session, stack, frames, count);
    for (size_t i = site; good && i < count; i++) {
        char *name = function_of(side, session_function_name(side->session, frames[i].function));
        good = name != NULL;
        fprintf(out, "%s%s", i > site ? " ← " : "", good ? name : "");
        free(name);
    }
    free(frames);
    good = (!out || fclose(out) == 0) && good;
    if (good)
        return text;
    free(text);
    return NULL;
}

static char *name_of(const struct compare_side *side, enum session_growth_by by, uint32_t id)
{
    if (by == SESSION_GROWTH_STACK)
        return path_of(side, id);
    const char *name = growth_name(side->session, by, id);
    return by == SESSION_GROWTH_TYPE ? strdup(name) : function_of(side, name);
}

/* ---- rows ------------------------------------------------------------------------------- */

static void sum(struct session_growth_sum *to, const struct session_growth_sum *from)
{
    to->bytes += from->bytes;
    to->count += from->count;
}

/* Makes the row of what is live on a side. `named`: its id is one of the later session. Returns
 * false if memory is exhausted. */
static bool make_row(struct compare_row *row, const struct compare_side *side,
                     enum session_growth_by by, const struct session_growth *live, bool named)
{
    *row = (struct compare_row){.name = name_of(side, by, live->id)};
    if (!row->name)
        return false;
    row->key = text_hash(row->name);
    if (!named)
        return true;
    if (by != SESSION_GROWTH_STACK) {
        row->id = live->id;
        return true;
    }
    row->stacks = malloc(sizeof(*row->stacks));
    if (!row->stacks) {
        free(row->name);
        return false;
    }
    row->stacks[row->stack_count++] = live->id;
    return true;
}

/* Appends one side's rows to the `*count`. `named`: the ids are those of the later session. */
static bool add_side(const struct compare_side *side, enum session_growth_by by, bool later,
                     bool named, struct compare_row **rows, size_t *count,
                     struct session_error *error)
{
    struct session_growth *live;
    size_t live_count;
    if (!selection_growth(side->selection, side->ns, side->ns, by, &live, &live_count, NULL, error))
        return false;
    struct compare_row *more = realloc(*rows, (*count + live_count + 1) * sizeof(*more));
    bool good = more != NULL;
    if (more)
        *rows = more;
    for (size_t i = 0; good && i < live_count; i++) {
        struct compare_row *row = &more[*count];
        good = make_row(row, side, by, &live[i], named);
        if (!good)
            break;
        *(later ? &row->after : &row->before) = live[i].after;
        (*count)++;
    }
    free(live);
    if (!good)
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    return good;
}

ARRAY_ORDER(by_name, struct compare_row, strcmp(a->name, b->name))

/* Adds a row to another one of the same name, and frees it. Returns false if memory is exhausted.
 */
static bool join(struct compare_row *row, struct compare_row *other)
{
    const size_t count = row->stack_count + other->stack_count;
    uint32_t *stacks = realloc(row->stacks, (count + 1) * sizeof(*stacks));
    if (stacks) {
        row->stacks = stacks;
        for (size_t i = 0; i < other->stack_count; i++)
            stacks[row->stack_count++] = other->stacks[i];
    }
    sum(&row->before, &other->before);
    sum(&row->after, &other->after);
    row->id = row->id != 0 ? row->id : other->id;
    FREE_ALL(other->stacks, other->name);
    return stacks != NULL;
}

/* Sorts the stacks of a path, each once. */
static void sort_stacks(struct compare_row *row)
{
    size_t used = 0;
    if (row->stack_count == 0)
        return;
    qsort(row->stacks, row->stack_count, sizeof(*row->stacks), array_order32);
    for (size_t i = 1; i < row->stack_count; i++)
        if (row->stacks[i] != row->stacks[used])
            row->stacks[++used] = row->stacks[i];
    row->stack_count = used + 1;
}

/* Makes one row of those with one name. Changes their number. False if memory is exhausted. */
static bool merge(struct compare_row *rows, size_t *count)
{
    size_t used = 0;
    bool good = true;
    if (*count == 0)
        return true;
    qsort(rows, *count, sizeof(*rows), by_name);
    for (size_t i = 1; i < *count; i++)
        if (strcmp(rows[i].name, rows[used].name) != 0)
            rows[++used] = rows[i];
        else
            good = join(&rows[used], &rows[i]) && good;
    *count = used + 1;
    for (size_t i = 0; i < *count; i++)
        sort_stacks(&rows[i]);
    return good;
}

bool compare_sides(const struct compare_side *before, const struct compare_side *after,
                   enum session_growth_by by, struct compare_row **rows, size_t *count,
                   struct session_error *error)
{
    const bool one = before->session == after->session;
    bool good = true;
    *rows = NULL;
    *count = 0;
    if (!add_side(before, by, false, one, rows, count, error) ||
        !add_side(after, by, true, true, rows, count, error)) {
        good = false;
    } else if (!merge(*rows, count)) {
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
        good = false;
    }
    if (good)
        return true;
    compare_free(*rows, *count);
    *rows = NULL;
    *count = 0;
    return false;
}

void compare_free(struct compare_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        FREE_ALL(rows[i].stacks, rows[i].name);
    }
    free(rows);
}

int64_t compare_net(const struct compare_row *row)
{
    const struct session_growth growth = {.before = row->before, .after = row->after};
    return session_growth_net(&growth);
}

const char *compare_state(const struct compare_row *row)
{
    if (row->before.count == 0)
        return "new";
    if (row->after.count == 0)
        return "gone";
    if (row->after.bytes != row->before.bytes)
        return row->after.bytes > row->before.bytes ? "grown" : "shrunk";
    return row->after.count > row->before.count   ? "grown"
           : row->after.count < row->before.count ? "shrunk"
                                                  : "same";
}

/* ---- what a row counts ------------------------------------------------------------------ */

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
    char *step = list_name_step(fields[by], row->id == 0 ? NULL : row->name);
    if (step)
        fputs(step + strlen("where "), out);
    free(step);
    return step != NULL;
}

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
