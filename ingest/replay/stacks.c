/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/trace_codec.h"

/*
 * A stack is kept to this depth, four times the recorder's limit. When all stacks together have
 * more than `frames_limit` frames, each new stack keeps its innermost few.
 */
enum { DEPTH_LIMIT = 16384, DEPTH_LIMIT_BEYOND = 32 };
static const uint64_t frames_limit = 64000000;

const char *stack_state_name(enum stack_state state)
{
    static const char *const names[] = {
        [STACK_COMPLETE] = "complete",     [STACK_DEPTH_LIMIT] = "depth limit",
        [STACK_UNWIND_END] = "unwind end", [STACK_LOST] = "lost",
        [STACK_NO_STACK] = "none",         [STACK_CUT] = "depth limit",
        [STACK_COLLECTOR] = "collector",
    };
    return names[state];
}

static bool add_row(struct stacks *stacks, uint32_t node, enum stack_state state)
{
    if (!array_reserve(&stacks->rows, &stacks->capacity, stacks->count + 1, sizeof(*stacks->rows)))
        return false;
    stacks->rows[stacks->count++] = (struct stack_row){.node = node,
                                                       .call_site_frame = FRAMES_NONE,
                                                       .function = FRAMES_NONE,
                                                       .user_frame = FRAMES_NONE,
                                                       .state = state};
    return true;
}

/* Finds modules with the same path and build-id, which are one file. The first represents all. */
static bool group_modules(struct stacks *stacks)
{
    const struct trace_scan *scan = stacks->scan;
    struct index_map files = {0};
    bool good = true;
    stacks->function_modules = calloc(scan->module_count + 1, sizeof(*stacks->function_modules));
    if (!stacks->function_modules)
        return false;
    for (size_t i = 0; good && i < scan->module_count; i++) {
        const struct module_row *module = &scan->modules[i];
        uint64_t hash = hash_text(module->path);
        size_t probe = index_map_begin(&files, hash);
        uint32_t other;
        while ((other = index_map_next(&files, hash, &probe)) != INDEX_NONE) {
            const struct module_row *known = &scan->modules[other];
            if (strcmp(known->path, module->path) == 0 &&
                known->build_id_length == module->build_id_length &&
                memcmp(known->build_id, module->build_id, module->build_id_length) == 0)
                break;
        }
        stacks->function_modules[i] = other == INDEX_NONE ? module->id : scan->modules[other].id;
        if (other == INDEX_NONE)
            good = index_map_insert(&files, hash, (uint32_t)i);
    }
    index_map_free(&files);
    return good;
}

/* Grows *items, an array of zeros from calloc(), from `had` to `count` items. */
static bool grow_zeroed(void *items, size_t had, size_t count, size_t size)
{
    void *old, *grown;
    memcpy(&old, items, sizeof(old)); /* `items` is the address of a pointer of any type */
    grown = realloc(old, count * size);
    if (!grown)
        return false;
    memset((char *)grown + had * size, 0, (count - had) * size);
    memcpy(items, &grown, sizeof(grown));
    return true;
}

bool stacks_extend(struct stacks *stacks)
{
    const struct trace_scan *scan = stacks->scan;
    size_t room = scan->tree.count + 1;
    /* Recorders number nodes from 1 without gaps. Ids far above the count are found by hash. */
    size_t ids = scan->tree.count * 2 + 1024;
    if (room > stacks->context_room) {
        if (!grow_zeroed(&stacks->contexts, stacks->context_room, room, sizeof(*stacks->contexts)))
            return false;
        stacks->context_room = room;
    }
    if (ids > stacks->by_id_count) {
        if (!grow_zeroed(&stacks->by_id, stacks->by_id_count, ids, sizeof(*stacks->by_id)))
            return false;
        stacks->by_id_count = ids;
    }
    if (stacks->function_modules && scan->module_count == stacks->modules_named)
        return true;
    free(stacks->function_modules);
    if (!group_modules(stacks))
        return false;
    for (; stacks->modules_named < scan->module_count; stacks->modules_named++) {
        const struct module_row *module = &scan->modules[stacks->modules_named];
        if (!module->runtime)
            symbols_module(stacks->frames.symbols, module->id, module->path, module->build_id,
                           module->build_id_length);
    }
    return true;
}

bool stacks_init(struct stacks *stacks, const struct trace_scan *scan, struct symbols *symbols)
{
    *stacks = (struct stacks){.scan = scan, .frames = {.symbols = symbols}};
    return stacks_extend(stacks) && add_row(stacks, CONTEXT_LOST, STACK_NO_STACK);
}

void stacks_free(struct stacks *stacks)
{
    frames_free(&stacks->frames);
    user_frames_free(&stacks->user);
    free(stacks->rows);
    free(stacks->contexts);
    free(stacks->by_id);
    free(stacks->function_modules);
    *stacks = (struct stacks){0};
}

static bool is_marker(const struct context_node *node)
{
    return node->frame == TRACE_FRAME_DEPTH_LIMIT || node->frame == TRACE_FRAME_UNWIND_END;
}

/* Notes a node's parent and symbolizes it. */
static bool name_node(struct stacks *stacks, uint32_t place)
{
    const struct context_node *node = &stacks->scan->tree.nodes[place];
    const struct module_row *module;
    uint32_t module_id = node->module, function_module = 0;
    uint64_t pc = node->value;
    stacks->contexts[place].parent = node->parent;
    if (is_marker(node))
        return true;
    if (node->frame == TRACE_FRAME_RETURN && pc > 0)
        pc--; /* in the call, not after it */
    module = module_id ? trace_scan_module(stacks->scan, module_id) : NULL;
    if (!module)
        module_id = 0; /* defined in a lost part of the trace */
    else
        function_module = stacks->function_modules[module - stacks->scan->modules];
    const struct runtime_name *of_runtime =
        module && module->runtime ? runtimes_name(&stacks->scan->runtimes, module_id, pc) : NULL;
    const struct frame_range range =
        module && module->runtime
            ? frames_of_runtime(&stacks->frames, module_id, function_module, pc, of_runtime)
            : frames_at(&stacks->frames, module_id, function_module, pc);
    stacks->contexts[place].frames = range;
    if (range.count != 0 && trace_scan_is_bare(stacks->scan, node->module, pc))
        stacks->frames.rows[range.first + range.count - 1].bare = true;
    return range.count != 0;
}

/* Notes which functions evaluate those of runtimes: the native one directly outward of a group that
 * has native frames inward of it. */
static void find_evaluators(struct stacks *stacks, const struct stack_row *row)
{
    const struct context_tree *tree = &stacks->scan->tree;
    bool native = false, runtime = false;
    uint32_t place = row->node;
    for (uint32_t i = 0; i < row->nodes; i++, place = tree->nodes[place].parent) {
        const struct frame_range range = stacks->contexts[place].frames;
        if (range.count == 0)
            continue;
        const struct frame_row *frame = &stacks->frames.rows[range.first + range.count - 1];
        struct function_row *function = &stacks->frames.functions[frame->function];
        if (function->role == ROLE_RUNTIME) {
            runtime = true;
            continue;
        }
        if (runtime && native && function->role == ROLE_NONE)
            function->role = ROLE_EVALUATOR;
        native = true;
        runtime = false;
    }
}

/* Symbolizes the stack's nodes. Sets how many are kept, the depth and the state. */
static bool measure(struct stacks *stacks, struct stack_row *row)
{
    const struct context_tree *tree = &stacks->scan->tree;
    uint32_t limit = stacks->kept_frames > frames_limit ? DEPTH_LIMIT_BEYOND : DEPTH_LIMIT;
    uint32_t place = row->node;
    while (place < CONTEXT_LOST && row->nodes < limit) {
        const struct stacks_context *context = &stacks->contexts[place];
        if (context->frames.count == 0) {
            const struct context_node *node = &tree->nodes[place];
            if (!name_node(stacks, place))
                return false;
            if (is_marker(node))
                row->state =
                    node->frame == TRACE_FRAME_DEPTH_LIMIT ? STACK_DEPTH_LIMIT : STACK_UNWIND_END;
        }
        row->depth += context->frames.count;
        row->nodes++;
        place = context->parent;
    }
    if (place == CONTEXT_LOST)
        row->state = STACK_LOST;
    else if (place < CONTEXT_LOST)
        row->state = STACK_CUT;
    stacks->kept_frames += row->depth;
    find_evaluators(stacks, row);
    return true;
}

/* Finds the call site: the innermost frame that is not an allocator, or if all are, the outermost
 * one. */
static void find_call_site(struct stacks *stacks, struct stack_row *row)
{
    struct stack_walk walk = stacks_walk(row);
    bool operators = true;
    uint32_t frame;
    while ((frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
        uint32_t function = stacks->frames.rows[frame].function;
        const struct function_row *about = &stacks->frames.functions[function];
        row->call_site_frame = frame;
        row->function = function;
        /* operator new[] calls operator new: of the operators at the inner end, the outermost
         * counts. */
        if (operators && about->operator_new != OPERATOR_OTHER)
            row->operator_new = about->operator_new;
        else
            operators = false;
        if (call_site_is_possible(about->role))
            break;
    }
}

/* Finds the innermost frame of the user's own code, or if there is none, of a runtime. */
static bool find_user_frame(struct stacks *stacks, struct stack_row *row)
{
    struct stack_walk walk = stacks_walk(row);
    uint32_t frame;
    if (!user_frames_extend(&stacks->user, &stacks->frames))
        return false;
    while ((frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
        enum user_code_class class = user_frames_class(&stacks->user, &stacks->frames, stacks->scan,
                                                       stacks->frames.rows[frame].function);
        if (class == USER_CODE_OWN) {
            row->user_frame = frame;
            break;
        }
        if (class == USER_CODE_RUNTIME && row->user_frame == FRAMES_NONE)
            row->user_frame = frame;
    }
    return true;
}

static uint32_t add_stack(struct stacks *stacks, uint32_t place)
{
    if (!add_row(stacks, place, place == CONTEXT_LOST ? STACK_LOST : STACK_COMPLETE))
        return INDEX_NONE;
    struct stack_row *row = &stacks->rows[stacks->count - 1];
    if (!measure(stacks, row))
        return INDEX_NONE;
    find_call_site(stacks, row);
    if (!find_user_frame(stacks, row))
        return INDEX_NONE;
    return (uint32_t)(stacks->count - 1);
}

uint32_t stacks_find(struct stacks *stacks, uint32_t node_id)
{
    bool direct = node_id < stacks->by_id_count;
    if (node_id == 0 || (direct && stacks->by_id[node_id] != 0))
        return node_id == 0 ? 0 : stacks->by_id[node_id];
    uint32_t place = context_tree_find(&stacks->scan->tree, node_id);
    uint32_t *known = place == CONTEXT_LOST ? &stacks->lost : &stacks->contexts[place].stack;
    if (*known == 0) {
        uint32_t stack = add_stack(stacks, place);
        if (stack == INDEX_NONE)
            return INDEX_NONE;
        *known = stack;
    }
    if (direct)
        stacks->by_id[node_id] = *known;
    return *known;
}

uint32_t stacks_collector(struct stacks *stacks)
{
    if (stacks->collector == 0) {
        if (!add_row(stacks, CONTEXT_LOST, STACK_COLLECTOR))
            return INDEX_NONE;
        stacks->collector = (uint32_t)(stacks->count - 1);
    }
    return stacks->collector;
}

void stacks_prefetch(const struct stacks *stacks, uint32_t stack)
{
    __builtin_prefetch(&stacks->rows[stack]);
}

uint32_t stacks_prefetch_node(const struct stacks *stacks, uint32_t node_id)
{
    const uint32_t stack = node_id < stacks->by_id_count ? stacks->by_id[node_id] : 0;
    stacks_prefetch(stacks, stack);
    return stack;
}

struct stack_walk stacks_walk(const struct stack_row *row)
{
    return (struct stack_walk){.node = row->node, .nodes_left = row->nodes};
}

uint32_t stacks_walk_next(const struct stacks *stacks, struct stack_walk *walk)
{
    while (walk->next == walk->end) {
        if (walk->nodes_left == 0)
            return FRAMES_NONE;
        const struct stacks_context *context = &stacks->contexts[walk->node];
        walk->next = context->frames.first;
        walk->end = context->frames.first + context->frames.count;
        walk->node = context->parent;
        walk->nodes_left--;
    }
    return walk->next++;
}
