/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/trace_codec.h"

/* ---- user frames --------------------------------------------------------------------------- */

static void user_frames_free(struct user_frames *user)
{
    free(user->classes);
    *user = (struct user_frames){0};
}

/* Makes room for the functions that `frames` has. False if memory is exhausted. */
static bool user_frames_extend(struct user_frames *user, const struct frames *frames)
{
    const size_t had = user->capacity;
    if (frames->function_count <= had)
        return true;
    if (!array_reserve(&user->classes, &user->capacity, frames->function_count,
                       sizeof(*user->classes)))
        return false;
    memset(user->classes + had, 0, user->capacity - had);
    return true;
}

/* Returns the class of a row of functions for which there is room. */
static enum user_code_class user_frames_class(struct user_frames *user, const struct frames *frames,
                                              const struct trace_scan *scan, uint32_t function)
{
    const struct function_row *row = &frames->functions[function];
    if (row->role != ROLE_NONE && row->role != ROLE_RUNTIME)
        return USER_CODE_HIDDEN;
    if (user->classes[function] == 0) {
        static const struct user_code built_in;
        const struct module_row *module = trace_scan_module(scan, row->module);
        const struct user_code_module about =
            user_code_module(&built_in, module ? module->path : "");
        const char *file =
            row->source_file == FRAMES_NONE ? NULL : frames->source_files[row->source_file];
        user->classes[function] = (uint8_t)(1 + user_code_function(&built_in, &about, row->name,
                                                                   row->linkage_name, file));
    }
    return (enum user_code_class)(user->classes[function] - 1);
}

/* ---- stacks -------------------------------------------------------------------------------- */

const char *stack_state_name(enum stack_state state)
{
    static const char *const names[] = {
        [STACK_COMPLETE] = "complete",     [STACK_DEPTH_LIMIT] = "depth limit",
        [STACK_UNWIND_END] = "unwind end", [STACK_LOST] = "lost",
        [STACK_NO_STACK] = "none",         [STACK_COLLECTOR] = "collector",
    };
    return names[state];
}

static bool add_row(struct stacks *stacks, uint32_t node, enum stack_state state)
{
    if (!ARRAY_RESERVE(stacks->rows, stacks->count, stacks->capacity))
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
    FREE_ALL(stacks->rows, stacks->contexts, stacks->evaluated, stacks->path, stacks->by_id,
             stacks->function_modules);
    *stacks = (struct stacks){0};
}

static bool is_marker(const struct context_node *node)
{
    return node->frame == TRACE_FRAME_DEPTH_LIMIT || node->frame == TRACE_FRAME_UNWIND_END;
}

/* Notes a node's parent and symbolizes it. Nothing lies outward of a marker. */
static bool name_node(struct stacks *stacks, uint32_t place)
{
    const struct context_node *node = &stacks->scan->tree.nodes[place];
    const struct module_row *module;
    uint32_t module_id = node->module, function_module = 0;
    uint64_t pc = node->value;
    stacks->contexts[place].parent = is_marker(node) ? CONTEXT_ROOT : node->parent;
    if (is_marker(node))
        return true;
    if (node->frame == TRACE_FRAME_RETURN && pc > 0)
        pc--; /* in the call, not after it */
    module = module_id ? trace_scan_module(stacks->scan, module_id) : NULL;
    if (!module)
        module_id = 0; /* defined in a lost part of the trace */
    else
        function_module = stacks->function_modules[module - stacks->scan->modules];
    stacks->has_runtime = stacks->has_runtime || (module && module->runtime);
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
 * has native frames inward of it. It ends where an earlier walk came by in the same state. */
static bool find_evaluators(struct stacks *stacks, uint32_t place)
{
    bool native = false, runtime = false;
    if (!stacks->has_runtime)
        return true;
    if (stacks->evaluated_room < stacks->context_room) {
        if (!grow_zeroed(&stacks->evaluated, stacks->evaluated_room, stacks->context_room, 1))
            return false;
        stacks->evaluated_room = stacks->context_room;
    }
    for (; place < CONTEXT_LOST; place = stacks->contexts[place].parent) {
        const struct frame_range range = stacks->contexts[place].frames;
        const uint8_t bit = (uint8_t)(1 << (2 * native + runtime));
        if ((stacks->evaluated[place] & bit) != 0)
            break;
        stacks->evaluated[place] |= bit;
        if (range.count == 0)
            continue;
        const struct frame_row *frame = &stacks->frames.rows[range.first + range.count - 1];
        struct function_row *function = &stacks->frames.functions[frame->function];
        if (function->role == ROLE_RUNTIME) {
            runtime = true;
            continue;
        }
        if (runtime && native && function->role == ROLE_NONE) {
            function->role = ROLE_EVALUATOR;
            stacks->evaluators++;
        }
        native = true;
        runtime = false;
    }
    return true;
}

static bool push(struct stacks *stacks, size_t *length, uint32_t place)
{
    if (!array_reserve(&stacks->path, &stacks->path_capacity, *length + 1, sizeof(*stacks->path)))
        return false;
    stacks->path[(*length)++] = place;
    return true;
}

/* Symbolizes the stack's nodes that no stack before it has, and measures them: so all stacks
 * together take a step for each node. Sets the depth and the state. */
static bool measure(struct stacks *stacks, struct stack_row *row)
{
    const struct context_tree *tree = &stacks->scan->tree;
    uint32_t place = row->node;
    size_t length = 0;
    while (place < CONTEXT_LOST && stacks->contexts[place].depth == 0) {
        if (!name_node(stacks, place) || !push(stacks, &length, place))
            return false;
        place = stacks->contexts[place].parent;
    }
    uint32_t depth = place < CONTEXT_LOST ? stacks->contexts[place].depth : 0;
    enum stack_state state = place < CONTEXT_LOST    ? stacks->contexts[place].state
                             : place == CONTEXT_LOST ? STACK_LOST
                                                     : STACK_COMPLETE;
    while (length > 0) {
        place = stacks->path[--length];
        struct stacks_context *context = &stacks->contexts[place];
        const unsigned frame = tree->nodes[place].frame;
        if (frame == TRACE_FRAME_DEPTH_LIMIT)
            state = STACK_DEPTH_LIMIT;
        else if (frame == TRACE_FRAME_UNWIND_END)
            state = STACK_UNWIND_END;
        context->depth = depth += context->frames.count;
        context->state = state & 7;
    }
    row->depth = depth;
    row->state = state;
    return find_evaluators(stacks, row->node);
}

/* Finds the call site: the innermost frame but allocators, or else the outermost one. */
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
        /* operator new[] calls operator new: the outermost of the inner operators counts. */
        if (operators && about->operator_new != OPERATOR_OTHER)
            row->operator_new = about->operator_new;
        else
            operators = false;
        if (call_site_is_possible(about->role))
            break;
    }
}

/* Finds a context's user frame, given that of its parent. */
static void find_user_of(struct stacks *stacks, struct stacks_context *context, uint32_t outer,
                         bool own)
{
    context->user_frame = outer;
    context->user_own = own;
    for (uint32_t i = context->frames.count; i-- > 0;) {
        const uint32_t frame = context->frames.first + i;
        const enum user_code_class class = user_frames_class(
            &stacks->user, &stacks->frames, stacks->scan, stacks->frames.rows[frame].function);
        if (class == USER_CODE_OWN)
            context->user_own = true;
        if (class == USER_CODE_OWN || (class == USER_CODE_RUNTIME && !context->user_own))
            context->user_frame = frame;
    }
    context->user_age = (stacks->evaluators + 1) & ((1u << 28) - 1);
}

/* Finds the innermost frame of the user's own code, or if there is none, of a runtime. Contexts
 * keep theirs until another function is found to be an evaluator, which is not own code. */
static bool find_user_frame(struct stacks *stacks, struct stack_row *row)
{
    uint32_t place = row->node, frame = FRAMES_NONE;
    size_t length = 0;
    bool own = false;
    if (!user_frames_extend(&stacks->user, &stacks->frames))
        return false;
    while (place < CONTEXT_LOST && stacks->contexts[place].user_age != stacks->evaluators + 1) {
        if (!push(stacks, &length, place))
            return false;
        place = stacks->contexts[place].parent;
    }
    if (place < CONTEXT_LOST) {
        frame = stacks->contexts[place].user_frame;
        own = stacks->contexts[place].user_own;
    }
    while (length > 0) {
        struct stacks_context *context = &stacks->contexts[stacks->path[--length]];
        find_user_of(stacks, context, frame, own);
        frame = context->user_frame;
        own = context->user_own;
    }
    row->user_frame = frame;
    return true;
}

static uint32_t add_stack(struct stacks *stacks, uint32_t place)
{
    if (!add_row(stacks, place, STACK_LOST))
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
    return (struct stack_walk){.node = row->node};
}

uint32_t stacks_walk_next(const struct stacks *stacks, struct stack_walk *walk)
{
    while (walk->next == walk->end) {
        if (walk->node >= CONTEXT_LOST)
            return FRAMES_NONE;
        const struct stacks_context *context = &stacks->contexts[walk->node];
        walk->next = context->frames.first;
        walk->end = context->frames.first + context->frames.count;
        walk->node = context->parent;
    }
    return walk->next++;
}
