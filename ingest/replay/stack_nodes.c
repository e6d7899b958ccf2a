/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/stack_nodes.h"

#include <stdlib.h>

#include "schemas/array.h"

/* A context while nodes are numbered. Lists of places end with 0, so a place is stored + 1. */
struct branch {
    uint32_t first, next; /* the first child; the next child of the same parent */
    uint32_t stacks;      /* new ones that go through it, + 1; 0: it gets no number now */
};

struct numbering {
    struct stack_nodes *nodes;
    const struct stacks *stacks;
    struct branch *branches; /* by context */
    uint32_t *order;         /* contexts that get numbers; then those where runs begin */
    size_t count, roots;
};

static bool is_context(uint32_t place)
{
    return place < CONTEXT_LOST;
}

/* Makes room for the contexts that there are now. */
static bool reserve(struct stack_nodes *nodes, size_t room)
{
    if (room <= nodes->room)
        return true;
    uint32_t *node = realloc(nodes->node, room * sizeof(*node));
    nodes->node = node ? node : nodes->node;
    uint32_t *top = realloc(nodes->top, room * sizeof(*top));
    nodes->top = top ? top : nodes->top;
    if (!node || !top)
        return false;
    memset(node + nodes->room, 0, (room - nodes->room) * sizeof(*node));
    memset(top + nodes->room, 0, (room - nodes->room) * sizeof(*top));
    nodes->room = room;
    return true;
}

/* Takes the contexts of a stack that get numbers into the lists of their parents. */
static void take_stack(struct numbering *numbering, uint32_t place, uint32_t *roots)
{
    const struct stacks_context *contexts = numbering->stacks->contexts;
    while (is_context(place) && numbering->nodes->top[place] == 0) {
        struct branch *branch = &numbering->branches[place];
        if (branch->stacks != 0)
            return;
        branch->stacks = 1;
        numbering->count++;
        const uint32_t parent = contexts[place].parent;
        const bool inner = is_context(parent) && numbering->nodes->top[parent] == 0;
        uint32_t *list = inner ? &numbering->branches[parent].first : roots;
        branch->next = *list;
        *list = place + 1;
        place = parent;
    }
}

/* Finds the contexts that get numbers, each after its parent. */
static bool find_contexts(struct numbering *numbering, size_t first)
{
    const struct stacks *stacks = numbering->stacks;
    uint32_t roots = 0;
    size_t count = 0;
    for (size_t i = first; i < stacks->count; i++)
        take_stack(numbering, stacks->rows[i].node, &roots);
    numbering->order = malloc((numbering->count + 1) * sizeof(*numbering->order));
    if (!numbering->order)
        return false;
    for (uint32_t place = roots; place != 0; place = numbering->branches[place - 1].next)
        numbering->order[count++] = place - 1;
    numbering->roots = count;
    for (size_t i = 0; i < count; i++)
        for (uint32_t child = numbering->branches[numbering->order[i]].first; child != 0;
             child = numbering->branches[child - 1].next)
            numbering->order[count++] = child - 1;
    return true;
}

/* Counts the stacks that go through each context. Returns the number of all frames. */
static uint64_t count_stacks(struct numbering *numbering, size_t first)
{
    const struct stacks *stacks = numbering->stacks;
    uint64_t frames = 0;
    for (size_t i = first; i < stacks->count; i++) {
        const uint32_t place = stacks->rows[i].node;
        if (is_context(place) && numbering->nodes->top[place] == 0)
            numbering->branches[place].stacks++;
    }
    for (size_t i = numbering->count; i-- > 0;) {
        const uint32_t place = numbering->order[i], parent = stacks->contexts[place].parent;
        if (i >= numbering->roots)
            numbering->branches[parent].stacks += numbering->branches[place].stacks - 1;
        frames += stacks->contexts[place].frames.count;
    }
    return frames;
}

/* Numbers the run that begins at a context. The runs beside it wait at the end of `order`. */
static void number_run(struct numbering *numbering, uint32_t top, size_t *waiting)
{
    struct stack_nodes *nodes = numbering->nodes;
    uint32_t place = top, next;
    for (;; place = next) {
        nodes->lowest -= numbering->stacks->contexts[place].frames.count;
        nodes->node[place] = nodes->lowest;
        nodes->top[place] = top + 1;
        next = numbering->branches[place].first;
        if (next == 0)
            break;
        next--;
        for (uint32_t child = numbering->branches[next].next; child != 0;
             child = numbering->branches[child - 1].next) {
            const bool more =
                numbering->branches[child - 1].stacks > numbering->branches[next].stacks;
            numbering->order[(*waiting)++] = more ? next : child - 1;
            next = more ? child - 1 : next;
        }
    }
    nodes->runs[nodes->run_count++] = place;
}

static bool number(struct numbering *numbering, size_t first, bool more)
{
    struct stack_nodes *nodes = numbering->nodes;
    if (!find_contexts(numbering, first))
        return false;
    const uint64_t frames = count_stacks(numbering, first);
    if (nodes->lowest == 0)
        nodes->lowest = more || frames >= UINT32_MAX ? UINT32_MAX : (uint32_t)frames + 1;
    free(nodes->runs);
    nodes->run_count = 0;
    nodes->runs = malloc((numbering->count + 1) * sizeof(*nodes->runs));
    if (!nodes->runs || frames >= nodes->lowest)
        return false;
    for (size_t waiting = numbering->roots; waiting > 0;) {
        const uint32_t top = numbering->order[--waiting];
        number_run(numbering, top, &waiting);
    }
    return true;
}

bool stack_nodes_number(struct stack_nodes *nodes, const struct stacks *stacks, size_t first,
                        bool more)
{
    const size_t room = stacks->context_room;
    struct numbering numbering = {.nodes = nodes, .stacks = stacks};
    if (!reserve(nodes, room))
        return false;
    numbering.branches = calloc(room + 1, sizeof(*numbering.branches));
    const bool good = numbering.branches && number(&numbering, first, more);
    FREE_ALL(numbering.branches, numbering.order);
    return good;
}

/* Returns the node outward of a context's frames. A marker has no frames and nothing around it. */
static uint32_t parent_of(const struct stack_nodes *nodes, const struct stacks *stacks,
                          uint32_t place)
{
    const uint32_t parent = stacks->contexts[place].parent;
    return is_context(parent) && stacks->contexts[parent].frames.count > 0 ? nodes->node[parent]
                                                                           : 0;
}

static struct stack_node_row row_of(const struct stack_nodes *nodes, const struct stacks *stacks,
                                    uint32_t place, uint32_t i)
{
    const struct stacks_context *context = &stacks->contexts[place];
    const uint32_t id = nodes->node[place] + i;
    return (struct stack_node_row){
        .id = id,
        .parent = i + 1 < context->frames.count ? id + 1 : parent_of(nodes, stacks, place),
        .frame = context->frames.first + i + 1,
        .stack = i == 0 ? context->stack : 0};
}

static bool begins_run(const struct stack_nodes *nodes, uint32_t place)
{
    return nodes->top[place] == place + 1;
}

bool stack_nodes_each(const struct stack_nodes *nodes, const struct stacks *stacks,
                      stack_node_function *each, void *context)
{
    for (size_t run = nodes->run_count; run-- > 0;) {
        uint32_t place = nodes->runs[run];
        for (bool last = false; !last; place = stacks->contexts[place].parent) {
            last = begins_run(nodes, place);
            for (uint32_t i = 0; i < stacks->contexts[place].frames.count; i++) {
                const struct stack_node_row row = row_of(nodes, stacks, place, i);
                if (!each(context, &row))
                    return false;
            }
        }
    }
    return true;
}

/* The same for the nodes of one run, by descending id. `*path` is room for its contexts. */
static bool run_inwards(const struct stack_nodes *nodes, const struct stacks *stacks,
                        uint32_t inner, uint32_t **path, size_t *capacity,
                        stack_node_function *each, void *context)
{
    size_t length = 0;
    uint32_t place = inner;
    for (bool last = false; !last; place = stacks->contexts[place].parent) {
        last = begins_run(nodes, place);
        if (!array_reserve(path, capacity, length + 1, sizeof(**path)))
            return false;
        (*path)[length++] = place;
    }
    while (length > 0) {
        place = (*path)[--length];
        for (uint32_t i = stacks->contexts[place].frames.count; i-- > 0;) {
            const struct stack_node_row row = row_of(nodes, stacks, place, i);
            if (!each(context, &row))
                return false;
        }
    }
    return true;
}

bool stack_nodes_inwards(const struct stack_nodes *nodes, const struct stacks *stacks,
                         stack_node_function *each, void *context)
{
    uint32_t *path = NULL;
    size_t capacity = 0;
    bool good = true;
    for (size_t run = 0; good && run < nodes->run_count; run++)
        good = run_inwards(nodes, stacks, nodes->runs[run], &path, &capacity, each, context);
    free(path);
    return good;
}

bool stack_nodes_runs(const struct stack_nodes *nodes, const struct stacks *stacks, size_t first,
                      stack_run_function *each, void *context)
{
    for (size_t i = first; i < stacks->count; i++) {
        struct stack_run_row row = {.stack = (uint32_t)i};
        for (uint32_t place = stacks->rows[i].node; is_context(place);) {
            const uint32_t top = nodes->top[place] - 1;
            row.node = nodes->node[place];
            row.frames = nodes->node[top] + stacks->contexts[top].frames.count - row.node;
            if (row.frames > 0 && !each(context, &row))
                return false;
            row.depth += row.frames;
            place = stacks->contexts[top].parent;
        }
    }
    return true;
}

uint32_t stack_nodes_of(const struct stack_nodes *nodes, const struct stack_row *row)
{
    return row->depth == 0 ? 0 : nodes->node[row->node];
}

void stack_nodes_free(struct stack_nodes *nodes)
{
    FREE_ALL(nodes->node, nodes->top, nodes->runs);
    *nodes = (struct stack_nodes){.node = NULL};
}
