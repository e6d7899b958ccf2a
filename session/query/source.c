/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums the selected allocations by source file and line, from the sums by stack. */
#include "session/source.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/query/tree_sums.h"
#include "session/scan/scan.h"

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
    uint32_t *open;   /* by position: nodes that were entered and not left yet */
    struct session_source_line *lines;
    size_t count, capacity;
    bool failed; /* memory is exhausted */
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
    uint32_t *open = realloc(sums->open, capacity * sizeof(*open));
    if (!open)
        return false;
    sums->open = open;
    memset(lines + sums->capacity, 0, (capacity - sums->capacity) * sizeof(*lines));
    memset(open + sums->capacity, 0, (capacity - sums->capacity) * sizeof(*open));
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

/* Returns the place of a node's line, 0: it is not in the file, or there was no memory for it. */
static uint32_t place_of(struct line_sums *sums, const struct stack_frame *frame)
{
    if (!sums->of_file[frame->file] || frame->line == 0)
        return 0;
    if (sums->place[frame->line] == 0 && !add_line(sums, frame->line))
        sums->failed = true;
    return sums->place[frame->line];
}

static void enter_line(void *context, uint32_t node)
{
    struct line_sums *sums = context;
    const uint32_t frame = stacks_frame(sums->stacks, node);
    const uint32_t place = place_of(sums, &sums->stacks->frame_table[frame]);
    if (place != 0)
        sums->open[place - 1]++;
}

static void leave_line(void *context, uint32_t node, const struct stack_sum *sum)
{
    struct line_sums *sums = context;
    const uint32_t frame = stacks_frame(sums->stacks, node);
    const uint32_t place = place_of(sums, &sums->stacks->frame_table[frame]);
    if (place == 0 || --sums->open[place - 1] != 0 || sum->count == 0)
        return;
    struct session_source_line *line = &sums->lines[place - 1];
    line->allocations += sum->count;
    line->bytes += sum->bytes;
    line->live_count += sum->live_count;
    line->live_bytes += sum->live_bytes;
    line->at_peak_bytes += sum->at_peak_bytes;
}

static bool sum_lines(struct line_sums *sums, const struct session *session,
                      const struct stack_sum *stack_sums, struct session_error *error)
{
    const struct stacks *stacks = sums->stacks;
    const struct tree_visitor visitor = {enter_line, leave_line, sums};
    sums->place = calloc((size_t)largest_line(sums) + 1, sizeof(*sums->place));
    if (!sums->place || !grow_lines(sums))
        return session_fail_memory(error, "the lines");
    if (!tree_sums_visit(session, stack_sums, &visitor, error))
        return false;
    for (uint32_t stack = 1; !sums->failed && stack < stacks->count; stack++) {
        const struct stack_frame *site = stacks_call_site(stacks, stack);
        const uint32_t place = stack_sums[stack].count > 0 ? place_of(sums, site) : 0;
        if (place != 0)
            sums->lines[place - 1].own_bytes += stack_sums[stack].bytes;
    }
    size_t used = 0;
    for (size_t i = 0; i < sums->count; i++) {
        if (sums->lines[i].allocations > 0)
            sums->lines[used++] = sums->lines[i];
    }
    sums->count = used;
    return !sums->failed || session_fail_memory(error, "the lines");
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
    free(sums.open);
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

struct file_sums {
    const struct stacks *stacks;
    struct session_source_file *files; /* by file id, as `open` is */
    uint32_t *open;                    /* nodes that were entered and not left yet */
};

static uint32_t file_of(const struct file_sums *sums, uint32_t node)
{
    return sums->stacks->frame_table[stacks_frame(sums->stacks, node)].file;
}

static void enter_file(void *context, uint32_t node)
{
    const struct file_sums *sums = context;
    sums->open[file_of(sums, node)]++;
}

static void leave_file(void *context, uint32_t node, const struct stack_sum *sum)
{
    const struct file_sums *sums = context;
    const uint32_t file = file_of(sums, node);
    if (--sums->open[file] != 0)
        return;
    sums->files[file].bytes += sum->bytes;
    sums->files[file].live_bytes += sum->live_bytes;
    sums->files[file].at_peak_bytes += sum->at_peak_bytes;
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
    struct file_sums sums = {stacks, found, calloc((size_t)names->count + 1, sizeof(uint32_t))};
    const struct tree_visitor visitor = {enter_file, leave_file, &sums};
    const bool good = ((found && sums.open) || session_fail_memory(error, "the files")) &&
                      tree_sums_visit(session, stack_sums, &visitor, error);
    free(sums.open);
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
