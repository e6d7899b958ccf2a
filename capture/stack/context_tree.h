/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling context tree: one node for each distinct (caller's node, code address).
 *
 * All threads share it without a lock. A new node is written through the sink before its id can be
 * found. Two threads that meet the same new context at once define it twice, which the trace format
 * allows. A node costs 16 bytes in a table that is 35 to 70 % full, and nothing else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/sink.h"
#include "schemas/trace_codec.h"

/* A node. `pc` is the address at which its code lay, 0 for the markers. */
struct node_log_entry {
    uint64_t pc;
    uint64_t path; /* of the new node, while it is carried */
    uint32_t parent, module;
    uint32_t carried; /* the new id, 0: not yet */
    uint32_t inner;   /* while it is carried: the node from which it came here */
    uint8_t frame;    /* enum trace_node_frame */
    bool no_rule;     /* no unwind rule covers the code */
    bool lost;        /* it cannot be written again */
};

/* A runtime's frame, with a pseudo pc (runtimes.h). The marker of this number has none. */
#define CONTEXT_TREE_RUNTIME TRACE_FRAME_DEPTH_LIMIT

void context_tree_init(const struct stack_sink *sink);

/* Returns the hash of a path, which says where its node lies in the table. It depends on the code
 * addresses of the path, not on the id of the parent. So all nodes of a path can be fetched at
 * once, although only the id of its parent shows that a node is right. 0 is the path of no
 * frames. */
static inline uint64_t context_tree_path(uint64_t parent_path, uint64_t pc,
                                         enum trace_node_frame frame)
{
    uint64_t hash = (parent_path ^ pc ^ (uint64_t)frame << 47) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Prefetches a node's place, for each frame of a path before the first look-up. */
void context_tree_prefetch(uint64_t path);

/* Returns the node of `pc` under `parent` (0: outermost). `pc` is 0 for the markers. `path` is that
 * of the node itself. 0 if the node is new and could not be written. */
uint32_t context_tree_node(uint32_t parent, uint64_t path, uint64_t pc, enum trace_node_frame frame,
                           void *context);

/* Does the same for code that has no rule. The sink is told so once for each pc. */
uint32_t context_tree_no_rule_node(uint32_t parent, uint64_t path, uint64_t pc,
                                   enum trace_node_frame frame, void *context);

/* Forgets the nodes with low <= pc < high: code that lies there later gets new ids. */
void context_tree_forget(uint64_t low, uint64_t high);

/* Forgets all nodes; ids start from 1 again. Only in a process with one thread. */
void context_tree_reset(void);

/* Forgets all nodes in a process that goes on; ids go on too. The memory is not given back, since a
 * thread that was held up may still look at it. */
void context_tree_restart(void);

uint64_t context_tree_nodes(void);
uint64_t context_tree_bytes(void);

/* Keeps what each node of the calling context tree is, by its id, so that the stacks of live blocks
 * can be written again at the beginning of another trace of this process.
 *
 * Order of calls: node_log_begin() before the first node; node_log_put() for each node, from any
 * thread. To begin another trace, while no other thread takes a stack: node_log_turn(), then
 * carry_node() for each stack that is still needed, then node_log_release(). */

extern bool node_log_is_on;

/* Begins the log. False if there is no memory. */
bool node_log_begin(void);

/* Sets the log aside and begins a new one. False, with no change, without memory. */
bool node_log_turn(void);

/* Returns the node of the log that was set aside, or NULL if it is not there. */
struct node_log_entry *node_log_aside(uint32_t id);

/* Gives back the memory of the log that was set aside. */
void node_log_release(void);

/* Forgets all nodes, in a forked child. */
void node_log_reset(void);

/* Defines the node `id` of the log that was set aside, and those around it, in the
 * tree as it is now. Returns the new id, or 0 if the node is not in the log, its code is no longer
 * loaded, or it could not be written. No other thread may take a stack. */
uint32_t carry_node(uint32_t id, void *context);
