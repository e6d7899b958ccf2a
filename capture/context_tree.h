/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calling context tree: one node for each distinct (caller's node, code address).
 *
 * Process-wide and lock-free. A new node is written through the sink before its id can be
 * found; two threads that meet the same new context at once define it twice, which the trace
 * format allows. A node costs 16 bytes at a load of 35 to 70 %, and nothing is kept beside it.
 */
#ifndef MPROF_CAPTURE_CONTEXT_TREE_H
#define MPROF_CAPTURE_CONTEXT_TREE_H

#include <stdint.h>

#include "schemas/trace_codec.h"

#include "capture/stack.h"

void context_tree_init(const struct stack_sink *sink);

/*
 * Where a node lies in the table depends on the code addresses of its path, not on its parent's
 * id: so all nodes of a path can be looked for at once, though each is only known to be right by
 * its parent's id. 0 is the path of no frames.
 */
static inline uint64_t context_tree_path(uint64_t parent_path, uint64_t pc,
                                         enum trace_node_frame frame)
{
    uint64_t hash = (parent_path ^ pc ^ (uint64_t)frame << 47) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Call for each frame of a path before the first is looked up. */
void context_tree_prefetch(uint64_t path);

/*
 * The node of `pc` under `parent` (0: outermost). `pc` is 0 for the markers; `path` is that of
 * the node itself. Returns 0 where the node is new and could not be written.
 */
uint32_t context_tree_node(uint32_t parent, uint64_t path, uint64_t pc, enum trace_node_frame frame,
                           void *context);

/* The same of code that has no rule. Once for each pc the sink is told so. */
uint32_t context_tree_bare_node(uint32_t parent, uint64_t path, uint64_t pc,
                                enum trace_node_frame frame, void *context);

/* Forgets the nodes with low <= pc < high: what stands there later gets new ids. */
void context_tree_forget(uint64_t low, uint64_t high);

/* Forgets all: ids begin anew. Only in a process with one thread. */
void context_tree_reset(void);

/* Forgets all in a process that goes on; ids go on, too. The memory is not given back: a thread
 * that was held up may still look at it. */
void context_tree_restart(void);

uint64_t context_tree_nodes(void);
uint64_t context_tree_bytes(void);

#endif
