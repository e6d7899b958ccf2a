/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/node_log.h"

#include <stdatomic.h>
#include <stddef.h>

#include "capture/os/os.h"

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

void node_log_put(uint32_t id, const struct node_log_entry *entry)
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
