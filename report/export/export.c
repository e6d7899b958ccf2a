/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/output.h"
#include "session/groups.h"

/* ---- sums ---- */

static const char *const value_names[EXPORT_TOTAL] = {
    [EXPORT_BYTES] = "bytes",
    [EXPORT_ALLOCATIONS] = "allocations",
    [EXPORT_LIVE_BYTES] = "live_bytes",
    [EXPORT_LIVE_COUNT] = "live_count",
    [EXPORT_AT_PEAK_BYTES] = "at_peak_bytes",
    [EXPORT_AT_PEAK_COUNT] = "at_peak_count",
};

const char *export_value_name(enum export_value value)
{
    return value_names[value];
}

uint64_t export_value_of(enum export_value value, const struct session_stack_sums *row)
{
    const uint64_t values[EXPORT_TOTAL] = {
        [EXPORT_BYTES] = row->bytes,
        [EXPORT_ALLOCATIONS] = row->allocations,
        [EXPORT_LIVE_BYTES] = row->live_bytes,
        [EXPORT_LIVE_COUNT] = row->live_count,
        [EXPORT_AT_PEAK_BYTES] = row->at_peak_bytes,
        [EXPORT_AT_PEAK_COUNT] = row->at_peak_count,
    };
    return values[value];
}

bool export_value_is_bytes(enum export_value value)
{
    return value == EXPORT_BYTES || value == EXPORT_LIVE_BYTES || value == EXPORT_AT_PEAK_BYTES;
}

bool export_sums(const struct export *export, const struct export_side *side, unsigned split,
                 bool more, struct session_stack_sums **rows, size_t *count)
{
    const struct session_stacks_options options = {.split = split,
                                                   .at = export->at,
                                                   .at_ns = side->at_ns,
                                                   .own_peaks = more,
                                                   .at_peak = true,
                                                   .lifetimes = more,
                                                   .without_short = true};
    if (!selection_stacks(side->selection, &options, rows, count, export->error))
        return false;
    for (size_t i = 0; export->at && i < *count; i++) {
        (*rows)[i].live_bytes = (*rows)[i].at_bytes;
        (*rows)[i].live_count = (*rows)[i].at_count;
    }
    return true;
}

/* So many allocations are summed up at once, at first. */
enum { PART = 1 << 19 };

/* Visits the sums of the blocks with ids from `first` to `last`. Stores the number of rows. */
static bool visit_part(const struct export *export, const struct export_side *side, unsigned split,
                       uint64_t first, uint64_t last, size_t *count,
                       bool (*visit)(void *context, const struct session_stack_sums *rows,
                                     size_t count),
                       void *context)
{
    char steps[80];
    struct session_stack_sums *rows = NULL;
    snprintf(steps, sizeof(steps), "where id in %" PRIu64 "..%" PRIu64, first, last);
    struct graph_result *result = selection_graph(side->selection, steps, export->error);
    if (!result)
        return false;
    struct export_side part = *side;
    part.selection = graph_result_selection(result);
    const bool good =
        export_sums(export, &part, split, false, &rows, count) && visit(context, rows, *count);
    free(rows);
    graph_result_free(result);
    return good;
}

bool export_each_sum(const struct export *export, const struct export_side *side, unsigned split,
                     bool (*visit)(void *context, const struct session_stack_sums *rows,
                                   size_t count),
                     void *context)
{
    const uint64_t begin = session_first_allocation(side->session);
    const uint64_t end = begin + session_allocation_count(side->session);
    uint64_t length = PART;
    bool good = true;
    if (selection_count(side->selection) <= PART ||
        (split == 0 && session_stack_largest(side->session) <= PART)) {
        struct session_stack_sums *rows = NULL;
        size_t count = 0;
        good =
            export_sums(export, side, split, false, &rows, &count) && visit(context, rows, count);
        free(rows);
        return good;
    }
    for (uint64_t first = begin, last; good && first < end; first = last + 1) {
        size_t count = 0;
        last = end - first < length ? end - 1 : first + length - 1;
        good = visit_part(export, side, split, first, last, &count, visit, context);
        /* If blocks are alike, a longer part has hardly more rows. */
        if (count < PART / 8)
            length *= 2;
        else if (count > PART / 2 && length > PART)
            length /= 2;
    }
    return good;
}

/* ---- frames ---- */

static bool make_room(struct export_frames *frames, size_t count, struct session_error *error)
{
    if (count <= frames->capacity)
        return true;
    struct session_code_frame *grown = realloc(frames->frame, count * 2 * sizeof(*grown));
    if (!grown)
        return report_fail_memory(error, "a stack");
    frames->frame = grown;
    frames->capacity = count * 2;
    return true;
}

bool export_frames(const struct export *export, const struct export_side *side, uint32_t stack,
                   struct export_frames *frames)
{
    static const struct session_code_frame unknown = {.file = ""};
    const uint32_t *ids;
    size_t count, first = 0;
    if (!session_stack_frames(side->session, stack, &ids, &count, export->error) ||
        !make_room(frames, count + 1, export->error))
        return false;
    frames->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!session_code_frame(side->session, ids[i], &frames->frame[i], export->error))
            return false;
    }
    if (count == 0)
        frames->frame[count++] = unknown;
    else if (!export->all_frames)
        first = session_stack_call_site(side->session, stack);
    first = first < count ? first : 0;
    frames->count = count - first;
    memmove(frames->frame, frames->frame + first, frames->count * sizeof(*frames->frame));
    return true;
}

void export_frames_free(struct export_frames *frames)
{
    free(frames->frame);
    *frames = (struct export_frames){.count = 0};
}

size_t export_group_end(const struct export_frames *frames, size_t first)
{
    while (first < frames->count && frames->frame[first].inlined)
        first++;
    return first < frames->count ? first + 1 : first;
}

const char *export_clean(const struct export_side *side, const char *text)
{
    return clean_text(side->clean, text);
}

const char *export_function_name(const struct export_side *side, uint32_t function)
{
    const char *name = side->names && side->names[function]
                           ? side->names[function]
                           : session_function_name(side->session, function);
    return *name ? clean_text(side->clean, name) : "?";
}

bool export_address(const struct export *export, const struct export_side *side,
                    const struct session_code_frame *frame, uint64_t *address)
{
    struct session_module module = {.load_bias = 0};
    if (frame->module != 0 && !session_module(side->session, frame->module, &module, export->error))
        return false;
    *address = frame->pc + module.load_bias;
    return true;
}

char *export_place(const struct export *export, const struct export_side *side,
                   const struct session_code_frame *frame)
{
    struct session_module module = {.path = "???"};
    const char *name = export_function_name(side, frame->function);
    const char *file = export_clean(side, frame->file), *slash = strrchr(file, '/');
    uint64_t address;
    char *text = NULL;
    int length;
    if (!export_address(export, side, frame, &address) ||
        (frame->module != 0 &&
         !session_module(side->session, frame->module, &module, export->error)))
        return NULL;
    if (frame->file[0] && frame->line != 0)
        length = asprintf(&text, "0x%" PRIX64 ": %s (%s:%" PRIu32 ")", address, name,
                          slash ? slash + 1 : file, frame->line);
    else
        length = asprintf(&text, "0x%" PRIX64 ": %s (in %s)", address, name,
                          export_clean(side, module.path));
    if (length >= 0)
        return text;
    report_fail_memory(export->error, "a name");
    return NULL;
}

int64_t export_start_ns(const struct session *session)
{
    const char *text = session_meta(session, "start_time");
    struct tm parts = {.tm_sec = 0};
    int64_t start_ns;
    const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) : NULL;
    if (!rest)
        return 0;
    double fraction = *rest == '.' ? strtod(rest, NULL) : 0;
    if (!(fraction >= 0 && fraction < 1))
        fraction = 0;
    return __builtin_mul_overflow((int64_t)timegm(&parts), 1000000000, &start_ns) ||
                   __builtin_add_overflow(start_ns, (int64_t)(fraction * 1e9), &start_ns)
               ? 0
               : start_ns;
}
