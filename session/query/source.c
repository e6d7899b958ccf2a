/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums the selected allocations by source file and line, from the sums by stack. */
#include "session/source.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/scan/scan.h"

enum { STACKS_A_LOOK = 4096 };

/* Loads the sums by stack and all frames. Returns the sums, NULL with `error` set. */
static const struct stack_sum *load(struct selection *selection, struct session_error *error)
{
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    return sums && stacks_frames(&selection->session->stacks, error) ? sums : NULL;
}

static int compare_lines(const void *left, const void *right)
{
    const struct session_source_line *a = left, *b = right;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* The lines of one file. */
struct line_sums {
    const struct stacks *stacks;
    uint8_t *of_file; /* by file id: 1 if it is this file */
    uint32_t *place;  /* by line: position in `lines` plus 1, 0: none yet */
    uint32_t *last;   /* by position: the last stack that was added */
    struct session_source_line *lines;
    size_t count, capacity;
};

/* Finds the largest line that a frame of the file has. */
static uint32_t largest_line(const struct line_sums *sums)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < sums->stacks->frame_count; i++) {
        const struct stack_frame *frame = &sums->stacks->frame_table[i];
        if (sums->of_file[frame->file] && frame->line > largest)
            largest = frame->line;
    }
    return largest;
}

/* Makes room for more lines, all zero. */
static bool grow_lines(struct line_sums *sums)
{
    const size_t capacity = sums->capacity * 2 + 256;
    struct session_source_line *lines = realloc(sums->lines, capacity * sizeof(*lines));
    if (!lines)
        return false;
    sums->lines = lines;
    uint32_t *last = realloc(sums->last, capacity * sizeof(*last));
    if (!last)
        return false;
    sums->last = last;
    memset(lines + sums->capacity, 0, (capacity - sums->capacity) * sizeof(*lines));
    memset(last + sums->capacity, 0, (capacity - sums->capacity) * sizeof(*last));
    sums->capacity = capacity;
    return true;
}

static bool add_line(struct line_sums *sums, uint32_t line)
{
    if (sums->count == sums->capacity && !grow_lines(sums))
        return false;
    sums->lines[sums->count].line = line;
    sums->place[line] = (uint32_t)++sums->count;
    return true;
}

/* Adds a stack to each line of the file that it passes through. */
static bool add_stack(struct line_sums *sums, uint32_t stack, const struct stack_sum *sum)
{
    const struct stacks *stacks = sums->stacks;
    const struct stack_frame *site = stacks_call_site(stacks, stack);
    for (uint64_t i = stacks_first(stacks, stack); i < stacks_end(stacks, stack); i++) {
        const struct stack_frame *frame = &stacks->frame_table[stacks_frame(stacks, i)];
        if (!sums->of_file[frame->file] || frame->line == 0)
            continue;
        if (sums->place[frame->line] == 0 && !add_line(sums, frame->line))
            return false;
        const uint32_t place = sums->place[frame->line] - 1;
        struct session_source_line *line = &sums->lines[place];
        if (sums->last[place] == stack)
            continue;
        sums->last[place] = stack;
        line->allocations += sum->count;
        line->bytes += sum->bytes;
        line->live_count += sum->live_count;
        line->live_bytes += sum->live_bytes;
        line->at_peak_bytes += sum->at_peak_bytes;
        if (sums->of_file[site->file] && site->line == frame->line)
            line->own_bytes += sum->bytes;
    }
    return true;
}

static bool sum_lines(struct line_sums *sums, const struct session *session,
                      const struct stack_sum *stack_sums, struct session_error *error)
{
    const struct stacks *stacks = sums->stacks;
    sums->place = calloc((size_t)largest_line(sums) + 1, sizeof(*sums->place));
    if (!sums->place || !grow_lines(sums))
        return session_fail_memory(error, "the lines");
    for (uint32_t stack = 1; stack < stacks->count; stack++) {
        if (stack % STACKS_A_LOOK == 0 && !scan_go_on(session, error))
            return false;
        if (stack_sums[stack].count > 0 && !add_stack(sums, stack, &stack_sums[stack]))
            return session_fail_memory(error, "the lines");
    }
    return true;
}

bool selection_source(struct selection *selection, const char *path,
                      struct session_source_line **lines, size_t *count,
                      struct session_error *error)
{
    struct session *session = selection->session;
    const struct name_table *files = &session->names.file;
    struct line_sums sums = {.stacks = &session->stacks};
    const struct stack_sum *stack_sums = load(selection, error);
    *lines = NULL;
    *count = 0;
    if (!stack_sums)
        return false;
    /* Id 0 is not a file, whatever its name. */
    sums.of_file = calloc((size_t)files->count + 1, sizeof(*sums.of_file));
    if (!sums.of_file)
        return session_fail_memory(error, "the lines");
    for (uint32_t file = 1; file < files->count; file++)
        sums.of_file[file] = files->name[file] && strcmp(files->name[file], path) == 0;
    const bool good = sum_lines(&sums, session, stack_sums, error);
    free(sums.of_file);
    free(sums.place);
    free(sums.last);
    if (!good) {
        free(sums.lines);
        return false;
    }
    if (sums.count > 0)
        qsort(sums.lines, sums.count, sizeof(*sums.lines), compare_lines);
    *lines = sums.lines;
    *count = sums.count;
    return true;
}

static int compare_files(const void *left, const void *right)
{
    return strcmp(((const struct session_source_file *)left)->path,
                  ((const struct session_source_file *)right)->path);
}

/* Adds a stack to each file that it passes through. `last` is by file id. */
static void add_to_files(const struct stacks *stacks, uint32_t stack, const struct stack_sum *sum,
                         struct session_source_file *files, uint32_t *last)
{
    for (uint64_t i = stacks_first(stacks, stack); i < stacks_end(stacks, stack); i++) {
        const uint32_t file = stacks->frame_table[stacks_frame(stacks, i)].file;
        if (file == 0 || last[file] == stack)
            continue;
        last[file] = stack;
        files[file].bytes += sum->bytes;
        files[file].live_bytes += sum->live_bytes;
        files[file].at_peak_bytes += sum->at_peak_bytes;
    }
}

bool selection_source_files(struct selection *selection, struct session_source_file **files,
                            size_t *count, struct session_error *error)
{
    struct session *session = selection->session;
    const struct stacks *stacks = &session->stacks;
    const struct name_table *names = &session->names.file;
    const struct stack_sum *stack_sums = load(selection, error);
    *files = NULL;
    *count = 0;
    if (!stack_sums)
        return false;
    struct session_source_file *found = calloc((size_t)names->count + 1, sizeof(*found));
    uint32_t *last = calloc((size_t)names->count + 1, sizeof(*last));
    bool good = (found && last) || session_fail_memory(error, "the files");
    for (uint32_t stack = 1; good && stack < stacks->count; stack++) {
        good = stack % STACKS_A_LOOK != 0 || scan_go_on(session, error);
        if (stack_sums[stack].count > 0)
            add_to_files(stacks, stack, &stack_sums[stack], found, last);
    }
    free(last);
    if (!good) {
        free(found);
        return false;
    }
    for (uint32_t file = 1; file < names->count; file++) {
        if (found[file].bytes == 0 && found[file].live_bytes == 0)
            continue;
        found[*count] = found[file];
        found[(*count)++].path = name_table_get(names, file);
    }
    qsort(found, *count, sizeof(*found), compare_files);
    *files = found;
    return true;
}
