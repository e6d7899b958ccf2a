/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/output/output.h"
#include "schemas/array.h"
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

bool export_frame(const struct export *export, const struct export_side *side, uint32_t node,
                  struct session_code_frame *frame)
{
    *frame = (struct session_code_frame){.file = ""};
    return node == 0 ||
           session_code_frame(side->session, session_stack_node(side->session, node).frame, frame,
                              export->error);
}

/* Stores frames up to the outermost one, or to the first one that is not inlined. */
static bool read_frames(const struct export *export, const struct export_side *side, bool group,
                        uint32_t node, struct export_frames *frames)
{
    bool inlined;
    frames->count = 0;
    do {
        if (!ARRAY_GROW(frames->frame, frames->count, frames->capacity))
            return report_fail_memory(export->error, "a stack");
        if (!export_frame(export, side, node, &frames->frame[frames->count]))
            return false;
        inlined = frames->frame[frames->count++].inlined;
        node = node == 0 ? 0 : session_stack_node(side->session, node).caller;
    } while (node != 0 && (inlined || !group));
    return true;
}

bool export_frames(const struct export *export, const struct export_side *side, uint32_t node,
                   struct export_frames *frames)
{
    return read_frames(export, side, false, node, frames);
}

bool export_group(const struct export *export, const struct export_side *side, uint32_t node,
                  struct export_frames *frames)
{
    return read_frames(export, side, true, node, frames);
}

void export_frames_free(struct export_frames *frames)
{
    free(frames->frame);
    *frames = (struct export_frames){.count = 0};
}

bool export_nodes_begin(struct export_nodes *nodes, const struct export *export,
                        const struct export_side *side, bool groups)
{
    const size_t count = (size_t)session_stack_nodes(side->session) + 1;
    export_nodes_free(nodes);
    *nodes = (struct export_nodes){.export = export,
                                   .side = side,
                                   .groups = groups,
                                   .number = calloc(count, sizeof(*nodes->number)),
                                   .path = calloc(count, sizeof(*nodes->path))};
    return (nodes->number && nodes->path) || report_fail_memory(export->error, "the stacks");
}

void export_nodes_free(struct export_nodes *nodes)
{
    FREE_ALL(nodes->number, nodes->path);
}

uint32_t export_nodes_outward(const struct export_nodes *nodes, uint32_t node)
{
    struct session_error ignored;
    struct session_code_frame frame;
    struct session_stack_node at;
    do {
        if (node == 0)
            return 0;
        at = session_stack_node(nodes->side->session, node);
        node = at.caller;
    } while (nodes->groups &&
             session_code_frame(nodes->side->session, at.frame, &frame, &ignored) && frame.inlined);
    return node;
}

bool export_nodes_find(struct export_nodes *nodes, uint32_t node,
                       bool (*find)(void *context, uint32_t node, uint32_t outward,
                                    uint32_t *number),
                       void *context, uint32_t *number)
{
    size_t count = 0;
    for (uint32_t at = node; count == 0 || at != 0; at = export_nodes_outward(nodes, at)) {
        nodes->path[count++] = at;
        if (nodes->number[at] != 0)
            break;
    }
    for (uint32_t outward = 0; count > 0; outward = nodes->number[nodes->path[count]]) {
        count--;
        if (nodes->number[nodes->path[count]] == 0 &&
            !find(context, nodes->path[count], outward, &nodes->number[nodes->path[count]]))
            return false;
    }
    *number = nodes->number[node];
    return true;
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
    const char *file = export_clean(side, frame->file);
    uint64_t address;
    char *text = NULL;
    int length;
    if (!export_address(export, side, frame, &address) ||
        (frame->module != 0 &&
         !session_module(side->session, frame->module, &module, export->error)))
        return NULL;
    if (frame->file[0] && frame->line != 0)
        length = asprintf(&text, "0x%" PRIX64 ": %s (%s:%" PRIu32 ")", address, name,
                          basename(file), frame->line);
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
