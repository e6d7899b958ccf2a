/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps what each node of the calling context tree is, by its id, so that the stacks of live blocks
 * can be written again at the beginning of another trace of this process.
 *
 * Order of calls: node_log_begin() before the first node; node_log_put() for each node, from any
 * thread. To begin another trace, while no other thread takes a stack: node_log_turn(), then
 * carry_node() for each stack that is still needed, then node_log_release().
 */
#ifndef MPROF_CAPTURE_STACK_NODE_LOG_H
#define MPROF_CAPTURE_STACK_NODE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "schemas/trace_codec.h"

/* A node. `pc` is the address at which its code lay, 0 for the markers. */
struct node_log_entry {
    uint64_t pc;
    uint64_t path; /* for carry.c: of the new node */
    uint32_t parent, module;
    uint32_t carried; /* for carry.c: the new id, 0: not yet */
    uint32_t inner;   /* for carry.c: the node from which it came here */
    uint8_t frame;    /* enum trace_node_frame */
    bool no_rule;     /* no unwind rule covers the code */
    bool lost;        /* for carry.c: it cannot be written again */
};

extern bool node_log_is_on;

/* Begins the log. False if there is no memory. */
bool node_log_begin(void);
void node_log_put(uint32_t id, const struct node_log_entry *entry);

/* Sets the log aside and begins a new one. Returns false, and changes nothing, if there is no
 * memory. */
bool node_log_turn(void);
/* Returns the node of the log that was set aside, or NULL if it is not there. */
struct node_log_entry *node_log_aside(uint32_t id);
/* Gives back the memory of the log that was set aside. */
void node_log_release(void);

/* Forgets all nodes, in a forked child. */
void node_log_reset(void);

#endif
