/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the frames of a shadow stack: those that a stack of return addresses would show for these
 * functions.
 *
 * Each function that was entered gives one frame, which is its call site as the compiler passes it
 * to the hook. That call site may not lie in the function entered before, because something between
 * them does not report itself: a library that calls back, a signal. Then the place of the outer
 * function's own hook becomes a frame too. Functions that were inlined have no frame of their own.
 * The debug information at the address shows them, as for any other stack.
 *
 * An entry keeps the node of its call site, so an event looks up only what was entered since.
 */
#include "capture/os/arch_x86_64.h"
#include "capture/stack/context_tree.h"
#include "capture/stack/modules.h"
#include "capture/stack/shadow_entries.h"
#include "capture/stack/shadow_stack.h"

/* The innermost frame so far. */
struct cursor {
    uint32_t node, frames;
    uint64_t path;
    bool failed;
};

/* Returns the start of the code whose unwind table entry also covers the call before `pc`. */
static uint64_t function_read(uint64_t pc)
{
    struct module module;
    struct unwind_row row;
    if (!modules_find(pc - 1, &module) || !module.image.header ||
        unwind_table_find(&module.image, pc - 1, &row) != UNWIND_FOUND)
        return 0;
    uint64_t start = row.function;
    if (unwind_table_find(&module.image, start, &row) != UNWIND_FOUND)
        return 0;
    /* At the start of a function only its return address is on the stack. Code that starts with
     * more is a part that the compiler moved away from the rest. */
    bool part = !row.signal_frame && row.cfa.how == UNWIND_IS_OFFSET &&
                (row.cfa_register != ARCH_RSP || row.cfa.offset != 8);
    return part ? 0 : start;
}

/* Returns the start of the function of `pc`. New entries of a full set replace the old in turn. */
static uint64_t function_of(struct shadow_stack *shadow, uint64_t pc)
{
    uint64_t hash = pc * UINT64_C(0x9e3779b97f4a7c15);
    struct shadow_function *set =
        &shadow->functions[hash >> (64 - SHADOW_SETS_LOG2) << SHADOW_WAYS_LOG2];
    for (unsigned way = 0; way < 1u << SHADOW_WAYS_LOG2; way++)
        if (set[way].pc == pc)
            return set[way].start;
    struct shadow_function *known = &set[shadow->replaced++ % (1u << SHADOW_WAYS_LOG2)];
    *known = (struct shadow_function){pc, function_read(pc)};
    return known->start;
}

/* Returns true if one function makes both calls, as far as is known. */
static bool same_function(struct shadow_stack *shadow, uint64_t pc, uint64_t other)
{
    uint64_t start = function_of(shadow, pc), other_start = function_of(shadow, other);
    return start == other_start || !start || !other_start;
}

static void frame_add(struct cursor *cursor, uint64_t pc, void *context)
{
    cursor->path = context_tree_path(cursor->path, pc, TRACE_FRAME_RETURN);
    cursor->frames++;
    if (!cursor->failed)
        cursor->node =
            context_tree_node(cursor->node, cursor->path, pc, TRACE_FRAME_RETURN, context);
    cursor->failed = !cursor->node;
}

/*
 * Returns how many of the first `count` entries are surely running. If the return address in an
 * entry's slot has changed, the function around it has used that place for a later call. The
 * entries further in have ended too, but not all of their slots need to show it.
 */
static uint32_t entries_running(const struct shadow_stack *shadow, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct shadow_entry *entry = &shadow->entries[i];
        if (entry->sp && entry->slot && *(const uint64_t *)entry->slot != entry->call_site)
            return i;
    }
    return count;
}

static uint64_t *reporting_word(struct shadow_stack *shadow, uint64_t start, uint64_t *bit)
{
    uint64_t hash = start * UINT64_C(0x9e3779b97f4a7c15);
    *bit = UINT64_C(1) << (hash >> 58);
    return &shadow->reporting[hash >> 32 & ((1u << SHADOW_REPORTING_LOG2) - 1)];
}

static void entry_set_start(struct shadow_stack *shadow, struct shadow_entry *entry)
{
    uint64_t bit, *word;
    entry->start = function_of(shadow, entry->site);
    word = reporting_word(shadow, entry->start, &bit);
    *word |= bit;
}

/*
 * Returns the innermost entry, from `outer` outward, of the function that made the call before
 * `pc`. Returns NULL if that function does not report itself. If it does, it must have been the
 * innermost that was running.
 */
static const struct shadow_entry *entry_of_call(struct shadow_stack *shadow,
                                                const struct shadow_entry *outer, uint64_t pc)
{
    const uint64_t start = function_of(shadow, pc);
    uint64_t bit, *word = reporting_word(shadow, start, &bit);
    if (!start || !(*word & bit))
        return NULL;
    while (outer >= &shadow->entries[shadow->base] && !(outer->sp && outer->start == start))
        outer--;
    return outer >= &shadow->entries[shadow->base] ? outer : NULL;
}

static struct cursor cursor_at(const struct shadow_stack *shadow, const struct shadow_entry *entry,
                               const struct cursor *root)
{
    return entry && entry >= &shadow->entries[shadow->base]
               ? (struct cursor){entry->node, entry->frames, entry->path, false}
               : *root;
}

/* Returns the innermost entry that is surely running, from `outer` outward. Mostly all are. */
static const struct shadow_entry *running_of(const struct shadow_stack *shadow,
                                             const struct shadow_entry *outer)
{
    uint32_t running = entries_running(shadow, (uint32_t)(outer - shadow->entries) + 1);
    while (running && !shadow->entries[running - 1].sp)
        running--;
    return running ? &shadow->entries[running - 1] : NULL;
}

/*
 * Adds the frame of a call that the function of `outer`, or a function that it called, made with
 * this stack pointer (0: not known). `outer` is NULL if the caller does not report itself. The
 * stack pointer is decisive for the parts of a function that the compiler moved away.
 */
static struct cursor call_add(struct shadow_stack *shadow, const struct shadow_entry *outer,
                              const struct cursor *root, uint64_t pc, uint64_t sp, void *context)
{
    bool direct = !outer || same_function(shadow, pc, outer->site);
    if (!direct) {
        const struct shadow_entry *caller = entry_of_call(shadow, outer, pc);
        direct = caller || sp == outer->sp;
        if (caller)
            outer = caller;
        else if (!direct)
            outer = running_of(shadow, outer);
    }
    struct cursor cursor = cursor_at(shadow, outer, root);
    if (!direct && outer)
        frame_add(&cursor, outer->site, context);
    frame_add(&cursor, pc, context);
    return cursor;
}

/*
 * Returns true if the function of `entry` has the frame of `outer`: it was inlined there, or the
 * same call called it after the other was left by an exception. The call site is the same frame for
 * both.
 */
static bool is_same_frame(struct shadow_stack *shadow, const struct shadow_entry *entry,
                          const struct shadow_entry *outer)
{
    if (!outer || outer->call_site != entry->call_site)
        return false;
    if (entry->slot && outer->slot)
        return entry->slot == outer->slot;
    return entry->sp == outer->sp ||
           (outer->outer_site != entry->site && same_function(shadow, outer->site, entry->site));
}

/* Finds the nodes of all entries from the base on. Returns false if one could not be written. */
static bool entries_resolve(struct shadow_stack *shadow, const struct cursor *root, void *context)
{
    struct shadow_entry *entries = shadow->entries;
    uint32_t at = shadow->count;
    while (at > shadow->base && !(entries[at - 1].sp && entries[at - 1].node))
        at--;
    const struct shadow_entry *outer = at > shadow->base ? &entries[at - 1] : NULL;
    for (; at < shadow->count; at++) {
        struct shadow_entry *entry = &entries[at];
        if (!entry->sp)
            continue;
        struct cursor cursor;
        if (is_same_frame(shadow, entry, outer)) {
            entry->outer_site = outer->outer_site;
            cursor = cursor_at(shadow, outer, root);
        } else {
            entry->outer_site = entry->site;
            cursor = call_add(shadow, outer, root, entry->call_site,
                              entry->slot ? entry->slot + 8 : 0, context);
        }
        if (cursor.failed)
            return false;
        entry_set_start(shadow, entry);
        entry->node = cursor.node;
        entry->path = cursor.path;
        entry->frames = cursor.frames;
        outer = entry;
    }
    return true;
}

static void entries_forget(struct shadow_stack *shadow, uint32_t base)
{
    for (uint32_t i = base; i < shadow->count; i++)
        shadow->entries[i].node = 0;
    shadow->base = base;
}

/* Returns the outermost frame, which marks the frames that are cut off. */
static struct cursor root_of(bool cut, void *context)
{
    struct cursor root = {0};
    if (!cut)
        return root;
    root.path = context_tree_path(0, 0, TRACE_FRAME_DEPTH_LIMIT);
    root.node = context_tree_node(0, root.path, 0, TRACE_FRAME_DEPTH_LIMIT, context);
    root.failed = !root.node;
    return root;
}

/* Moves the base outward if it lies too far in by now, or inward of all entries. */
static void base_settle(struct shadow_stack *shadow, uint32_t limit)
{
    const uint32_t keep = limit - limit / 4;
    if (shadow->base && (shadow->count < shadow->base || shadow->count - shadow->base < limit / 2))
        entries_forget(shadow, shadow->count > keep ? shadow->count - keep : 0);
}

/* Returns the innermost complete entry, with its node and those of all entries around it. Returns
 * NULL if that fails. */
static const struct shadow_entry *top_resolve(struct shadow_stack *shadow,
                                              const struct shadow_request *request)
{
    const uint32_t limit = request->limit;
    base_settle(shadow, limit);
    for (;;) {
        struct cursor root = root_of(shadow->base, request->context);
        if (root.failed || !entries_resolve(shadow, &root, request->context))
            return NULL;
        const struct shadow_entry *top = &shadow->entries[shadow->count - 1];
        while (top > &shadow->entries[shadow->base] && !top->sp)
            top--;
        const uint32_t left = shadow->count - shadow->base, keep = limit - limit / 4;
        /* The event itself adds up to two frames. */
        if (!top->sp || top->frames + 2 <= limit || left <= 1)
            return top;
        entries_forget(shadow, shadow->count - (left > keep ? keep : left - (left + 3) / 4));
    }
}

/* Returns the node of the innermost frame alone, under a marker. The frames around it are not known
 * or exceed the limit. */
static uint32_t node_of_full(const struct shadow_request *request)
{
    struct cursor cursor = root_of(true, request->context);
    if (!cursor.failed)
        frame_add(&cursor, request->pc, request->context);
    return cursor.failed ? 0 : cursor.node;
}

bool shadow_stack_node(const struct shadow_request *request, uint32_t *node)
{
    struct shadow_stack *shadow = shadow_stack_own;
    if (!shadow || !shadow_is_own(shadow, request->sp))
        return false;
    while (shadow_left(shadow, request->sp))
        shadow_pop(shadow);
    if (!shadow->count)
        return false;
    if (shadow->generation != request->generation) {
        memset(shadow->functions, 0, sizeof(shadow->functions));
        entries_forget(shadow, 0);
        shadow->generation = request->generation;
    }
    *node = 0;
    if (request->sp <= shadow->full_sp) {
        *node = node_of_full(request);
        return true;
    }
    const struct shadow_entry *top = top_resolve(shadow, request);
    if (!top)
        return true;
    if (!top->sp)
        return false;
    if (top->frames + 2 > request->limit) {
        *node = node_of_full(request);
        return true;
    }
    struct cursor root = root_of(shadow->base, request->context);
    struct cursor cursor = call_add(shadow, top, &root, request->pc, request->sp, request->context);
    *node = cursor.failed ? 0 : cursor.node;
    return true;
}
