/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/context_tree.h"

#include <stdatomic.h>
#include <stddef.h>

#include "capture/os/lockfree_table.h"
#include "capture/os/os.h"
#include "capture/stack/modules.h"
#include "capture/stack/runtimes.h"

/* Nodes lie in blocks of this many; the ids of the tree have 26 bits. */
#define BLOCK_NODES 4096u
#define BLOCKS ((UINT32_C(1) << 26) / BLOCK_NODES)

struct node_log {
    _Atomic(void *) blocks[BLOCKS]; /* struct node_log_entry */
};

bool node_log_is_on;
static _Atomic(struct node_log *) present;
static struct node_log *aside;

static const size_t block_size = BLOCK_NODES * sizeof(struct node_log_entry);

static void log_free(struct node_log *log)
{
    for (uint32_t i = 0; log && i < BLOCKS; i++)
        if (log->blocks[i])
            os_unmap(log->blocks[i], block_size);
    if (log)
        os_unmap(log, sizeof(*log));
}

bool node_log_begin(void)
{
    struct node_log *log = os_map(sizeof(*log));
    atomic_store(&present, log);
    node_log_is_on = log != NULL;
    return node_log_is_on;
}

/* Returns the block of a node, which the first use makes. NULL if there is no memory. */
static struct node_log_entry *open_block(struct node_log *log, uint32_t id)
{
    return os_map_once(&log->blocks[id / BLOCK_NODES % BLOCKS], block_size);
}

static void node_log_put(uint32_t id, const struct node_log_entry *entry)
{
    struct node_log *log = atomic_load_explicit(&present, memory_order_acquire);
    struct node_log_entry *block = log ? open_block(log, id) : NULL;
    if (block)
        block[id % BLOCK_NODES] = *entry;
}

/* A node that was never put is all zero. */
struct node_log_entry *node_log_aside(uint32_t id)
{
    struct node_log_entry *block =
        aside && id ? atomic_load(&aside->blocks[id / BLOCK_NODES % BLOCKS]) : NULL;
    struct node_log_entry *entry = block ? &block[id % BLOCK_NODES] : NULL;
    return entry && (entry->pc || entry->frame > TRACE_FRAME_EXACT) ? entry : NULL;
}

bool node_log_turn(void)
{
    struct node_log *log = os_map(sizeof(*log));
    if (!log)
        return false;
    aside = atomic_exchange(&present, log);
    return true;
}

void node_log_release(void)
{
    log_free(aside);
    aside = NULL;
}

void node_log_reset(void)
{
    if (!node_log_is_on)
        return;
    node_log_release();
    log_free(atomic_exchange(&present, NULL));
    node_log_begin();
}

/* An entry is packed into 16 bytes. They also hold its place, which is 27 bits of its path's hash:
 *
 *   key    pc 47 bits, frame kind 2, low bits of the place 15
 *   value  id 26 bits, parent's id 26, high bits of the place 12 */
#define PC_BITS 47u
#define PC_MASK ((UINT64_C(1) << PC_BITS) - 1)
#define FRAME_BITS 2u
#define ID_BITS 26u
#define ID_MASK ((UINT64_C(1) << ID_BITS) - 1)
#define PLACE_BITS 27u
#define PLACE_LOW_BITS (64 - PC_BITS - FRAME_BITS)
/* The parent's id and the high bits of the place. */
#define IDENTITY (~ID_MASK)
/* A runaway tree stops here (about 3 GiB). Later contexts have no stack. */
#define NODES_MAX ((UINT32_C(1) << ID_BITS) - 1)

static uint64_t node_key(uint64_t path, uint64_t pc, enum trace_node_frame frame)
{
    uint64_t place = path >> (64 - PLACE_BITS);
    return (pc & PC_MASK) | (uint64_t)frame << PC_BITS | place << (PC_BITS + FRAME_BITS);
}

static uint64_t node_value(uint64_t path, uint32_t parent, uint32_t id)
{
    uint64_t place = path >> (64 - PLACE_BITS);
    return id | (uint64_t)parent << ID_BITS | place >> PLACE_LOW_BITS << (2 * ID_BITS);
}

static uint64_t node_place(uint64_t key, uint64_t value)
{
    uint64_t low = key >> (PC_BITS + FRAME_BITS), high = value >> (2 * ID_BITS);
    return (high << PLACE_LOW_BITS | low) << (64 - PLACE_BITS);
}

static uint64_t no_rule_place(uint64_t key, uint64_t value)
{
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static struct {
    struct lockfree_table table;
    struct lockfree_table no_rule; /* code that was reported to have no rule */
    _Atomic uint32_t last_id;
    const struct stack_sink *sink;
} tree = {.table = {.identity = IDENTITY, .place = node_place},
          .no_rule = {.place = no_rule_place}};

void context_tree_init(const struct stack_sink *sink)
{
    tree.sink = sink;
}

/* Returns true if the sink still has to be told that `pc` has no rule. */
static bool no_rule_is_new(uint64_t pc)
{
    return !lockfree_table_find(&tree.no_rule, no_rule_place(pc, 0), pc, 0, 0);
}

static uint32_t node_define(uint32_t parent, uint64_t pc, enum trace_node_frame frame, bool no_rule,
                            void *context)
{
    struct stack_node node = {.parent = parent,
                              .frame = (uint8_t)frame,
                              .no_rule = no_rule && no_rule_is_new(pc),
                              .value = pc};
    struct module module;
    if (frame <= TRACE_FRAME_EXACT && modules_find(pc - (frame == TRACE_FRAME_RETURN), &module)) {
        if (!modules_announce(&module, tree.sink, context))
            return 0;
        node.module = module.id;
        node.value = pc - module.load_bias;
    } else if (frame == CONTEXT_TREE_RUNTIME && pc != 0 &&
               !runtimes_define(pc, &node, tree.sink, context))
        return 0;
    if (atomic_load_explicit(&tree.last_id, memory_order_relaxed) >= NODES_MAX)
        return 0;
    node.id = atomic_fetch_add_explicit(&tree.last_id, 1, memory_order_relaxed) + 1;
    if (!tree.sink->node(context, &node))
        return 0;
    if (node_log_is_on)
        node_log_put(node.id, &(struct node_log_entry){.pc = pc,
                                                       .parent = parent,
                                                       .module = node.module,
                                                       .frame = (uint8_t)frame,
                                                       .no_rule = no_rule});
    if (node.no_rule)
        lockfree_table_insert(&tree.no_rule, pc, 1);
    return node.id;
}

void context_tree_prefetch(uint64_t path)
{
    lockfree_table_prefetch(&tree.table, path);
}

static inline __attribute__((always_inline)) uint32_t node_find(uint32_t parent, uint64_t path,
                                                                uint64_t pc,
                                                                enum trace_node_frame frame,
                                                                bool no_rule, void *context)
{
    uint64_t key = node_key(path, pc, frame);
    uint64_t found =
        lockfree_table_find(&tree.table, path, key, node_value(path, parent, 0), IDENTITY);
    if (found)
        return (uint32_t)(found & ID_MASK);
    uint32_t id = node_define(parent, pc, frame, no_rule, context);
    if (id)
        lockfree_table_insert(&tree.table, key, node_value(path, parent, id));
    return id;
}

uint32_t context_tree_node(uint32_t parent, uint64_t path, uint64_t pc, enum trace_node_frame frame,
                           void *context)
{
    return node_find(parent, path, pc, frame, false, context);
}

uint32_t context_tree_no_rule_node(uint32_t parent, uint64_t path, uint64_t pc,
                                   enum trace_node_frame frame, void *context)
{
    return node_find(parent, path, pc, frame, true, context);
}

void context_tree_forget(uint64_t low, uint64_t high)
{
    lockfree_table_forget(&tree.table, PC_MASK, low, high);
    lockfree_table_forget(&tree.no_rule, UINT64_MAX, low, high);
}

void context_tree_reset(void)
{
    lockfree_table_reset(&tree.table);
    lockfree_table_reset(&tree.no_rule);
    atomic_store(&tree.last_id, 0);
}

void context_tree_restart(void)
{
    atomic_store(&tree.table.slots, NULL);
    atomic_store(&tree.no_rule.slots, NULL);
}

uint64_t context_tree_nodes(void)
{
    return atomic_load_explicit(&tree.last_id, memory_order_relaxed);
}

uint64_t context_tree_bytes(void)
{
    return lockfree_table_bytes(&tree.table) + lockfree_table_bytes(&tree.no_rule);
}

/* Returns true if the code of the node is still that of its module. */
static bool is_loaded(const struct node_log_entry *entry)
{
    struct module module;
    if (entry->frame > TRACE_FRAME_EXACT)
        return true;
    const bool found = modules_find(entry->pc - (entry->frame == TRACE_FRAME_RETURN), &module);
    return found ? module.id == entry->module : entry->module == 0;
}

static void carry_one(struct node_log_entry *entry, const struct node_log_entry *outer,
                      void *context)
{
    const enum trace_node_frame frame = (enum trace_node_frame)entry->frame;
    if (!is_loaded(entry)) {
        entry->lost = true;
        return;
    }
    entry->path = context_tree_path(outer ? outer->path : 0, entry->pc, frame);
    entry->carried =
        entry->no_rule
            ? context_tree_no_rule_node(outer ? outer->carried : 0, entry->path, entry->pc, frame,
                                        context)
            : context_tree_node(outer ? outer->carried : 0, entry->path, entry->pc, frame, context);
    entry->lost = entry->carried == 0;
}

/* Goes outwards to a node that is done, and back. Ids fall, so a wrong log ends this, too. */
uint32_t carry_node(uint32_t id, void *context)
{
    struct node_log_entry *entry = node_log_aside(id);
    uint32_t inner = 0;
    bool lost = !entry;
    while (entry && !entry->carried && !entry->lost) {
        entry->inner = inner;
        inner = id;
        id = entry->parent;
        entry = id < inner ? node_log_aside(id) : NULL;
        lost = !entry && id != 0;
    }
    lost = lost || (entry && entry->lost);
    while (inner != 0) {
        const struct node_log_entry *outer = entry;
        entry = node_log_aside(inner);
        inner = entry->inner;
        if (lost)
            entry->lost = true;
        else
            carry_one(entry, outer, context);
        lost = entry->lost;
    }
    return lost || !entry ? 0 : entry->carried;
}
