/* SPDX-License-Identifier: BSD-2-Clause */
/* The holes between live blocks at one moment, and the blocks that keep them from being joined: a
 * hole is pinned by the block below it and by the one above it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/group_table.h"
#include "report/tables/reports.h"
#include "schemas/array.h"
#include "session/holes.h"
#include "session/time.h"
#include "session/user_code.h"

enum { KEYS_MOST = 3 };

/* A block beside a hole: many holes have the same. */
struct pin {
    uint64_t id, hole; /* hole: its place in the list */
    struct session_allocation block;
    uint64_t keys[KEYS_MOST]; /* what groups blocks; equal for equal keys */
};

struct pin_group {
    const struct pin *first;
    uint64_t bytes, holes, blocks, oldest_ns, since_ns;
};

struct fragmentation {
    const struct report_request *request;
    struct selection *selection;
    struct session_hole *holes;
    struct pin *pins;
    struct pin_group *groups;
    size_t hole_count, pin_count, group_count;
    uint64_t ns;
};

/* ---- keys ------------------------------------------------------------------------------- */

/* Returns the function of the user's frame, 0: none. */
static uint32_t user_function(struct session *session, uint32_t stack)
{
    const size_t place = session_stack_user(session, stack);
    struct session_frame frame = {.function = 0};
    if (place == SESSION_NO_FRAME)
        return 0;
    struct session_frame *frames = calloc(place + 1, sizeof(*frames));
    if (frames && session_stack(session, stack, frames, place + 1) > place)
        frame = frames[place];
    free(frames);
    return frame.function;
}

static struct session_frame site_frame(struct session *session, uint32_t stack)
{
    const size_t place = session_stack_call_site(session, stack);
    struct session_frame frame = {.file = ""};
    struct session_frame *frames = calloc(place + 1, sizeof(*frames));
    if (frames && session_stack(session, stack, frames, place + 1) > place)
        frame = frames[place];
    free(frames);
    return frame;
}

/* Numbers that are equal for blocks of one group. Files are compared by their one text. */
static void set_keys(struct session *session, enum report_by by, struct pin *pin)
{
    const struct session_allocation *block = &pin->block;
    struct session_frame frame;
    switch (by) {
    case BY_FUNCTION:
        pin->keys[0] = block->function;
        break;
    case BY_TYPE:
        pin->keys[0] = block->type;
        break;
    case BY_LINE:
        frame = site_frame(session, block->stack);
        pin->keys[0] = frame.function;
        pin->keys[1] = (uintptr_t)frame.file;
        pin->keys[2] = frame.line;
        break;
    case BY_MODULE:
        pin->keys[0] = (uintptr_t)session_function_module(session, block->function);
        break;
    case BY_THREAD:
        pin->keys[0] = block->thread;
        break;
    case BY_STACK:
        pin->keys[0] = block->stack;
        break;
    default:
        pin->keys[0] = user_function(session, block->stack);
    }
}

static void add_function(struct document *document, struct session *session, uint32_t function)
{
    document_text(document, function ? session_function_name(session, function) : NULL);
}

static void add_keys(const struct fragmentation *fragmentation, const struct pin *pin,
                     struct document *document)
{
    struct session *session = fragmentation->request->session;
    const struct session_allocation *block = &pin->block;
    struct session_frame frame;
    switch (fragmentation->request->by) {
    case BY_FUNCTION:
        add_function(document, session, block->function);
        document_text(document, session_function_module(session, block->function));
        break;
    case BY_TYPE:
        document_text(document, block->type ? session_type_name(session, block->type) : NULL);
        break;
    case BY_LINE:
        frame = site_frame(session, block->stack);
        add_function(document, session, frame.function);
        document_text(document, *frame.file ? frame.file : NULL);
        if (frame.line)
            document_number(document, frame.line);
        else
            document_null(document);
        break;
    case BY_MODULE:
        document_text(document, session_function_module(session, block->function));
        break;
    case BY_THREAD:
        document_text(document, session_thread_name(session, block->thread));
        break;
    case BY_STACK:
        group_stack_values(document, session, block->stack);
        break;
    default:
        add_function(document, session, user_function(session, block->stack));
    }
}

/* ---- pins ------------------------------------------------------------------------------- */

ARRAY_ORDER(by_id, struct pin, ORDER(a->id, b->id))

static int by_group(const void *left, const void *right)
{
    const struct pin *a = left, *b = right;
    const int order = memcmp(a->keys, b->keys, sizeof(a->keys));
    if (order != 0)
        return order;
    return ORDER(a->hole, b->hole);
}

ARRAY_ORDER(by_bytes, struct pin_group,
            ORDER(b->bytes, a->bytes) ?: ORDER(a->first->id, b->first->id))

/* Reads the selection's blocks beside holes by ids: chunk after chunk. */
static bool read_pins(struct fragmentation *fragmentation, struct session_error *error)
{
    struct session *session = fragmentation->request->session;
    struct pin *pins = calloc(2 * fragmentation->hole_count + 1, sizeof(*pins));
    size_t count = 0;
    if (!pins)
        return report_fail_memory(error, "the blocks");
    fragmentation->pins = pins;
    for (size_t i = 0; i < fragmentation->hole_count; i++) {
        const uint64_t ids[] = {fragmentation->holes[i].below, fragmentation->holes[i].above};
        for (int side = 0; side < 2; side++)
            if (ids[side] != 0 && selection_contains(fragmentation->selection, ids[side]))
                pins[count++] = (struct pin){.id = ids[side], .hole = i};
    }
    fragmentation->pin_count = count;
    qsort(pins, count, sizeof(*pins), by_id);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && pins[i].id == pins[i - 1].id)
            pins[i].block = pins[i - 1].block;
        else if (!session_allocation(session, pins[i].id, &pins[i].block, error))
            return false;
        set_keys(session, fragmentation->request->by, &pins[i]);
    }
    return true;
}

/* Adds a pin to its group. A hole between two blocks of one group counts once. */
static void add_pin(struct pin_group *group, const struct fragmentation *fragmentation, size_t i)
{
    const struct pin *pin = &fragmentation->pins[i];
    const struct session_hole *hole = &fragmentation->holes[pin->hole];
    group->blocks++;
    if (pin->block.alloc_ns < group->oldest_ns)
        group->oldest_ns = pin->block.alloc_ns;
    if (group->first != pin && fragmentation->pins[i - 1].hole == pin->hole)
        return;
    group->holes++;
    group->bytes += hole->end - hole->start;
    if (hole->since_ns < group->since_ns)
        group->since_ns = hole->since_ns;
}

static bool make_groups(struct fragmentation *fragmentation, struct session_error *error)
{
    struct pin_group *groups = calloc(fragmentation->pin_count + 1, sizeof(*groups));
    struct pin_group *group = groups;
    if (!groups)
        return report_fail_memory(error, "the groups");
    fragmentation->groups = groups;
    qsort(fragmentation->pins, fragmentation->pin_count, sizeof(*fragmentation->pins), by_group);
    for (size_t i = 0; i < fragmentation->pin_count; i++) {
        const struct pin *pin = &fragmentation->pins[i];
        if (i == 0 || memcmp(pin[-1].keys, pin->keys, sizeof(pin->keys)) != 0) {
            group = &groups[fragmentation->group_count++];
            *group = (struct pin_group){
                .first = pin, .oldest_ns = UINT64_MAX, .since_ns = SESSION_NEVER};
        }
        add_pin(group, fragmentation, i);
    }
    qsort(groups, fragmentation->group_count, sizeof(*groups), by_bytes);
    return true;
}

/* ---- the report ------------------------------------------------------------------------- */

static bool add_facts(const struct fragmentation *fragmentation, struct document *document,
                      struct session_error *error)
{
    struct session *session = fragmentation->request->session;
    struct session_region *regions = NULL;
    struct session_use use;
    size_t count = 0;
    uint64_t span = 0;
    if (!session_regions(session, fragmentation->ns, &regions, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        span += regions[i].end - regions[i].start;
    free(regions);
    if (!selection_use(fragmentation->selection, fragmentation->ns, 0, UINT64_MAX,
                       SESSION_HOLE_LEAST, &use, error))
        return false;
    document_fact_number(document, "ns", "time", VALUE_MOMENT, fragmentation->ns);
    document_fact_number(document, "regions", NULL, VALUE_NUMBER, count);
    document_fact_number(document, "region_bytes", "address range of the regions", VALUE_BYTES,
                         span);
    document_fact_number(document, "used_bytes", "live blocks of the filter", VALUE_BYTES,
                         use.selected_bytes);
    document_fact_number(document, "other_bytes", "other live blocks", VALUE_BYTES,
                         use.filtered_bytes);
    document_fact_number(document, "overhead_bytes", "gaps up to 32 bytes", VALUE_BYTES,
                         use.overhead_bytes);
    document_fact_number(document, "small_bytes", "gaps under 1 KiB", VALUE_BYTES, use.small_bytes);
    document_fact_number(document, "hole_bytes", "holes, from 1 KiB on", VALUE_BYTES,
                         use.hole_bytes);
    document_fact_number(document, "unknown_bytes",
                         "gaps beside blocks that may be mapped: not known", VALUE_BYTES,
                         use.unknown_bytes);
    document_fact_number(document, "hole_count", "number of holes", VALUE_NUMBER, use.hole_count);
    document_fact_number(document, "largest_hole", NULL, VALUE_BYTES, use.largest);
    return true;
}

static void add_groups(const struct fragmentation *fragmentation, struct document *document)
{
    const uint64_t top = fragmentation->request->top;
    struct document_column columns[DOCUMENT_COLUMNS_MOST] = {
        {"hole_bytes", NULL, VALUE_BYTES, NULL},
        {"holes", NULL, VALUE_NUMBER, NULL},
        {"blocks", NULL, VALUE_NUMBER, NULL},
        {"oldest_ns", "oldest block at", VALUE_MOMENT, NULL},
        {"since_ns", "a hole since", VALUE_MOMENT, NULL}};
    document_table(document, "groups", "What pins the holes", columns,
                   5 + group_key_columns(fragmentation->request->by, columns + 5));
    for (size_t i = 0; i < fragmentation->group_count && (top == 0 || i < top); i++) {
        const struct pin_group *group = &fragmentation->groups[i];
        document_number(document, group->bytes);
        document_number(document, group->holes);
        document_number(document, group->blocks);
        document_number(document, group->oldest_ns);
        if (group->since_ns == SESSION_NEVER)
            document_null(document);
        else
            document_number(document, group->since_ns);
        add_keys(fragmentation, group->first, document);
    }
    document_rows(document, fragmentation->group_count);
}

static void add_holes(const struct fragmentation *fragmentation, struct document *document)
{
    static const struct document_column columns[] = {{"bytes", NULL, VALUE_BYTES, NULL},
                                                     {"address", NULL, VALUE_ADDRESS, NULL},
                                                     {"since_ns", "since", VALUE_MOMENT, NULL},
                                                     {"below", "block below", VALUE_NUMBER, NULL},
                                                     {"above", "block above", VALUE_NUMBER, NULL}};
    const uint64_t top = fragmentation->request->top;
    document_table(document, "holes", "The largest holes", columns,
                   sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < fragmentation->hole_count && (top == 0 || i < top); i++) {
        const struct session_hole *hole = &fragmentation->holes[i];
        document_number(document, hole->end - hole->start);
        document_number(document, hole->start);
        if (hole->since_ns == SESSION_NEVER)
            document_null(document);
        else
            document_number(document, hole->since_ns);
        document_number(document, hole->below);
        document_number(document, hole->above);
    }
    document_rows(document, fragmentation->hole_count);
}

bool report_fragmentation(const struct report_request *request, struct document *document,
                          struct session_error *error)
{
    struct report_request whole = *request;
    struct fragmentation fragmentation = {.request = request,
                                          .ns = session_peak_ns(request->session)};
    whole.at = NULL;
    if (session_meta_number(request->session, "made_up_addresses")) {
        snprintf(error->message, sizeof(error->message),
                 "fragmentation cannot be told: the imported recording has no addresses");
        return false;
    }
    if (request->at && !session_moment(request->session, request->at, &fragmentation.ns, error))
        return false;
    struct graph_result *result = request_run(&whole, request->session, NULL, NULL, error);
    fragmentation.selection = result ? graph_result_selection(result) : NULL;
    const bool good =
        fragmentation.selection && add_facts(&fragmentation, document, error) &&
        session_holes(request->session, fragmentation.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST, true,
                      &fragmentation.holes, &fragmentation.hole_count, error) &&
        read_pins(&fragmentation, error) && make_groups(&fragmentation, error);
    if (good) {
        add_groups(&fragmentation, document);
        add_holes(&fragmentation, document);
    }
    FREE_ALL(fragmentation.holes, fragmentation.pins, fragmentation.groups);
    graph_result_free(result);
    return good;
}
