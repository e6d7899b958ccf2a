/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/shadow_stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/stack/context_tree.h"
#include "capture/stack/modules.h"
#include "capture/stack/thread_state.h"
#include "capture/stack/unwind_rule.h"

#define SHADOW_ENTRIES 16384u
#define SHADOW_SETS_LOG2 8u
#define SHADOW_WAYS_LOG2 2u
#define SHADOW_REPORTING_LOG2 6u

/* sp is 0 in all entries that are not in use. It is written last when an entry is made. A signal
 * handler that runs before that skips the entry and leaves it alone. */
struct shadow_entry {
    uint64_t function, call_site, site; /* as in struct shadow_call */
    uint64_t sp;
    uint64_t slot;       /* where the return address of its frame lies; 0: not known */
    uint64_t outer_site; /* of the first hook in the same frame of the real stack */
    uint64_t start;  /* of the function that `site` lies in, once there is a node; 0: not known */
    uint64_t path;   /* of `node`, see context_tree.h */
    uint32_t node;   /* of the call site; 0: not looked up yet */
    uint32_t frames; /* from the outermost frame to this one */
};

/* The function in which an address lies, from the unwind tables. */
struct shadow_function {
    uint64_t pc, start; /* start 0: not known, or a part of a function that lies apart */
};

struct shadow_stack {
    _Atomic int kernel_id; /* of the thread that has it; 0: free */
    uint32_t count;
    uint32_t base;       /* the entry that frames begin with; those further out are cut off */
    uint32_t generation; /* of the nodes */
    uint64_t own_low, own_high;
    uint64_t full_sp; /* of the first entry for which there was no room; 0: none */
    uint32_t replaced;
    struct shadow_function functions[1u << (SHADOW_SETS_LOG2 + SHADOW_WAYS_LOG2)];
    uint64_t reporting[1u << SHADOW_REPORTING_LOG2]; /* bits of hashes of `start` of all entries */
    struct shadow_entry entries[SHADOW_ENTRIES];
};

static inline bool shadow_is_own(const struct shadow_stack *shadow, uint64_t sp)
{
    return sp - shadow->own_low < shadow->own_high - shadow->own_low;
}

static inline void shadow_pop(struct shadow_stack *shadow)
{
    shadow->entries[shadow->count - 1].sp = 0;
    atomic_signal_fence(memory_order_seq_cst);
    shadow->count--;
}

/* Returns the innermost entry if its function has been left, otherwise NULL. */
static inline struct shadow_entry *shadow_left(struct shadow_stack *shadow, uint64_t sp)
{
    struct shadow_entry *top = shadow->entries + shadow->count - 1;
    if (!shadow->count || !top->sp)
        return NULL;
    /* The stack can be read from the stack pointer on. */
    bool left = top->sp < sp || (top->slot && *(const uint64_t *)top->slot != top->call_site);
    return left ? top : NULL;
}

#define SHADOWS_MAX 65536u

bool shadow_stack_on;
__thread struct shadow_stack *shadow_stack_own;

/* All shadow stacks that were ever made. Those of threads that have ended are used again. */
static struct {
    _Atomic(struct shadow_stack *) table[SHADOWS_MAX]; /* NULL: another thread is making it */
    _Atomic uint32_t count;
    _Atomic uint32_t next_search; /* the count at which those of dead threads are searched for */
} shadows = {.next_search = 64};

static struct shadow_stack *take_free(int kernel_id)
{
    uint32_t count = atomic_load(&shadows.count);
    for (uint32_t i = 0; i < count; i++) {
        struct shadow_stack *shadow = atomic_load(&shadows.table[i]);
        int none = 0;
        if (shadow && atomic_load_explicit(&shadow->kernel_id, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&shadow->kernel_id, &none, kernel_id))
            return shadow;
    }
    return NULL;
}

/* Frees those of threads that ended without shadow_stack_end(): a raw clone, a late first call. */
static void reclaim_dead(void)
{
    uint32_t count = atomic_load(&shadows.count), due = atomic_load(&shadows.next_search);
    if (count < due || !atomic_compare_exchange_strong(&shadows.next_search, &due, 2 * count + 8))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct shadow_stack *shadow = atomic_load(&shadows.table[i]);
        int id = shadow ? atomic_load(&shadow->kernel_id) : 0;
        if (id && os_call(SYS_tgkill, os_process_id(), id, 0, 0, 0, 0) == -ESRCH)
            atomic_compare_exchange_strong(&shadow->kernel_id, &id, 0);
    }
}

static struct shadow_stack *create(int kernel_id)
{
    struct shadow_stack *shadow = os_map(sizeof(*shadow));
    if (!shadow)
        return NULL;
    uint32_t index = atomic_fetch_add(&shadows.count, 1);
    if (index >= SHADOWS_MAX) {
        atomic_fetch_sub(&shadows.count, 1);
        os_unmap(shadow, sizeof(*shadow));
        return NULL;
    }
    atomic_store(&shadow->kernel_id, kernel_id);
    atomic_store(&shadows.table[index], shadow);
    return shadow;
}

struct shadow_stack *shadow_stack_begin(const struct stack_thread *thread)
{
    const int kernel_id = os_thread_id();
    uint64_t signals = os_block_signals();
    struct shadow_stack *shadow = shadow_stack_own;
    if (!shadow) {
        shadow = take_free(kernel_id);
        if (!shadow) {
            reclaim_dead();
            shadow = take_free(kernel_id);
        }
        if (!shadow)
            shadow = create(kernel_id);
        if (shadow) {
            while (shadow->count)
                shadow_pop(shadow);
            shadow->base = 0;
            shadow->full_sp = 0;
            shadow->own_low = thread->memory.own_low;
            shadow->own_high = thread->memory.own_high;
            shadow_stack_own = shadow;
        }
    }
    os_restore_signals(signals);
    return shadow;
}

void shadow_stack_end(void)
{
    struct shadow_stack *shadow = shadow_stack_own;
    if (!shadow)
        return;
    shadow_stack_own = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store(&shadow->kernel_id, 0);
}

void shadow_stack_after_fork(void)
{
    uint32_t count = atomic_load(&shadows.count);
    for (uint32_t i = 0; i < count && i < SHADOWS_MAX; i++) {
        struct shadow_stack *shadow = atomic_load(&shadows.table[i]);
        if (shadow)
            atomic_store(&shadow->kernel_id, shadow == shadow_stack_own ? os_thread_id() : 0);
    }
}

/* Returns where the return address of the calling function lies, by its unwind rule. Returns 0 if
 * the rule takes more than two registers. */
static uint64_t slot_of_call(const struct shadow_stack *shadow, const struct shadow_call *call)
{
    unwind_rule rule = unwind_cache_rule(call->site - 1);
    if (unwind_rule_kind(rule) != UNWIND_RULE_FRAME)
        return 0;
    uint64_t base = unwind_rule_by_rbp(rule) ? call->rbp : call->sp;
    uint64_t slot = base + (uint64_t)unwind_rule_offset(rule) - 8;
    return slot >= call->sp && slot < shadow->own_high - 8 && slot % 8 == 0 ? slot : 0;
}

/* Drops the entries that were left. An inlined function calls the hook too, from the frame that it
 * was inlined into. The return address of that frame is the same, but the place of the hook is
 * another. So an entry of our frame was left if it has another call site, or came from this
 * place. */
static void drop_left(struct shadow_stack *shadow, const struct shadow_call *call, uint64_t slot)
{
    const struct shadow_entry *entries = shadow->entries;
    while (shadow_left(shadow, call->sp) ||
           (slot && shadow->count && entries[shadow->count - 1].sp &&
            entries[shadow->count - 1].slot && entries[shadow->count - 1].slot < slot))
        shadow_pop(shadow);
    for (uint32_t i = shadow->count; i > 0; i--) {
        const struct shadow_entry *entry = &entries[i - 1];
        bool same_frame = slot && entry->slot ? entry->slot == slot : entry->sp == call->sp;
        if (!same_frame)
            break;
        if (entry->call_site == call->call_site && entry->site != call->site)
            continue;
        while (shadow->count >= i)
            shadow_pop(shadow);
    }
}

void shadow_stack_enter(struct shadow_stack *shadow, const struct shadow_call *call)
{
    if (!shadow_is_own(shadow, call->sp))
        return;
    const uint64_t slot = slot_of_call(shadow, call);
    drop_left(shadow, call, slot);
    if (shadow->full_sp < call->sp)
        shadow->full_sp = 0;
    if (shadow->count == SHADOW_ENTRIES) {
        if (!shadow->full_sp)
            shadow->full_sp = call->sp;
        return;
    }
    struct shadow_entry *entry = &shadow->entries[shadow->count];
    shadow->count++;
    atomic_signal_fence(memory_order_seq_cst);
    entry->function = call->function;
    entry->call_site = call->call_site;
    entry->site = call->site;
    entry->slot = slot;
    entry->node = 0;
    atomic_signal_fence(memory_order_seq_cst);
    entry->sp = call->sp;
}

/* If a function jumps to the hook as its last act, the hook sees the stack pointer of the caller.
 * The entry is then dropped because of its place, together with those that were left before. */
void shadow_stack_leave(struct shadow_stack *shadow, const struct shadow_call *call)
{
    const struct shadow_entry *entries = shadow->entries, *left;
    bool found = false;
    if (!shadow_is_own(shadow, call->sp) || call->sp <= shadow->full_sp)
        return;
    while ((left = shadow_left(shadow, call->sp))) {
        found = left->function == call->function && left->call_site == call->call_site;
        shadow_pop(shadow);
    }
    for (uint32_t i = shadow->count; !found && i > 0 && entries[i - 1].call_site == call->call_site;
         i--) {
        found = entries[i - 1].function == call->function;
        while (found && shadow->count >= i)
            shadow_pop(shadow);
    }
}

/* Makes the frames of a shadow stack: those that a stack of return addresses would show for these
 * functions.
 *
 * Each function that was entered gives one frame, which is its call site as the compiler passes it
 * to the hook. That call site may not lie in the function entered before, because something between
 * them does not report itself: a library that calls back, a signal. Then the place of the outer
 * function's own hook becomes a frame too. Functions that were inlined have no frame of their own.
 * The debug information at the address shows them, as for any other stack.
 *
 * An entry keeps the node of its call site, so an event looks up only what was entered since. */

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

/* Returns how many of the first `count` entries are surely running. If the return address in an
 * entry's slot has changed, the function around it has used that place for a later call. The
 * entries further in have ended too, but not all of their slots need to show it. */
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

/* Returns the innermost entry, from `outer` outward, of the function that made the call before
 * `pc`. Returns NULL if that function does not report itself. If it does, it must have been the
 * innermost that was running. */
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

/* Adds the frame of a call that the function of `outer`, or a function that it called, made with
 * this stack pointer (0: not known). `outer` is NULL if the caller does not report itself. The
 * stack pointer is decisive for the parts of a function that the compiler moved away. */
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

/* Returns true if the function of `entry` has the frame of `outer`: it was inlined there, or the
 * same call called it after the other was left by an exception. The call site is the same frame for
 * both. */
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
