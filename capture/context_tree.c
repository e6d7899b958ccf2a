#include "capture/context_tree.h"

#include <stdatomic.h>

#include "capture/modules.h"
#include "capture/shared_table.h"

/* Keys are pc and frame kind; values hold the parent above the node's id. */
#define PARENT_TAG UINT32_MAX
/* A run-away tree stops here (about 3 GiB); later contexts have no stack. */
#define NODES_MAX (UINT32_C(1) << 26)

static struct {
    struct shared_table table;
    _Atomic uint32_t last_id;
    const struct stack_sink *sink;
} tree;

void context_tree_init(const struct stack_sink *sink)
{
    tree.sink = sink;
}

static uint32_t node_define(uint32_t parent, uint64_t pc, enum trace_node_frame frame,
                            void *context)
{
    struct stack_node node = {.parent = parent, .frame = (uint8_t)frame, .value = pc};
    struct module module;
    if (frame <= TRACE_FRAME_EXACT && modules_find(pc - (frame == TRACE_FRAME_RETURN), &module)) {
        if (!modules_announce(&module, tree.sink, context))
            return 0;
        node.module = module.id;
        node.value = pc - module.load_bias;
    }
    if (atomic_load_explicit(&tree.last_id, memory_order_relaxed) >= NODES_MAX)
        return 0;
    node.id = atomic_fetch_add_explicit(&tree.last_id, 1, memory_order_relaxed) + 1;
    return tree.sink->node(context, &node) ? node.id : 0;
}

uint32_t context_tree_node(uint32_t parent, uint64_t pc, enum trace_node_frame frame, void *context)
{
    uint64_t key = pc << 2 | (uint64_t)frame;
    uint64_t found = shared_table_find(&tree.table, key, parent, PARENT_TAG);
    if (found)
        return (uint32_t)found;
    uint32_t id = node_define(parent, pc, frame, context);
    if (id)
        shared_table_insert(&tree.table, key, parent, PARENT_TAG, (uint64_t)parent << 32 | id);
    return id;
}

void context_tree_forget(uint64_t low, uint64_t high)
{
    shared_table_forget(&tree.table, low << 2, high << 2);
}

void context_tree_reset(void)
{
    shared_table_reset(&tree.table);
    atomic_store(&tree.last_id, 0);
}

void context_tree_restart(void)
{
    atomic_store(&tree.table.slots, NULL);
}

uint64_t context_tree_nodes(void)
{
    return atomic_load_explicit(&tree.last_id, memory_order_relaxed);
}

uint64_t context_tree_bytes(void)
{
    return shared_table_bytes(&tree.table);
}
