/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks that allocated or freed, numbered in the order of their first use; 0 is "no stack
 * taken". A stack is symbolized when it is first used, since its call site's function must be
 * known from then on.
 */
#ifndef MPROF_INGEST_STACKS_H
#define MPROF_INGEST_STACKS_H

#include "ingest/frames.h"
#include "ingest/trace_scan.h"
#include "ingest/usage.h"

enum stack_state {
    STACK_COMPLETE,
    STACK_DEPTH_LIMIT,
    STACK_UNWIND_END,
    STACK_LOST,
    STACK_NO_STACK,
};

/* In schema words: 'complete', 'depth limit', 'unwind end', 'lost', 'none'. */
const char *stack_state_name(enum stack_state state);

struct stack_row {
    uint32_t node;  /* place of the innermost frame; CONTEXT_LOST */
    uint32_t nodes; /* of the tree that are kept: fewer than there are where the stack was cut */
    uint32_t depth; /* frames, inlined ones included */
    uint32_t call_site_frame, function; /* FRAMES_NONE: no call site */
    enum stack_state state;
    unsigned operator_new; /* which C++ operator asked for the memory, by its frame */
    struct usage usage;
};

struct stacks {
    const struct trace_scan *scan;
    struct frames frames;
    struct stack_row *rows;
    size_t count, capacity;
    uint32_t *by_node; /* stack id of a node's place, 0: none yet */
    size_t node_room;  /* places that by_node and node_frames have */
    uint32_t *by_id;   /* the same by the node's id, for ids below by_id_count: no hashing */
    size_t by_id_count;
    struct frame_range *node_frames; /* of a node's place, count 0: not symbolized yet */
    uint32_t *function_modules;      /* of each module row: the id that stands for its file */
    size_t modules_named;            /* module rows that the symbolizer knows */
    uint32_t lost;                   /* stack id of "lost", 0: none yet */
    uint64_t kept_frames;            /* of all stacks, against what a made-up trace could ask for */
};

/* `symbols` and `scan` must outlive it. False where memory is exhausted; then free it. */
bool stacks_init(struct stacks *stacks, const struct trace_scan *scan, struct symbols *symbols);
/* After the scan has found more nodes and modules. False where memory is exhausted. */
bool stacks_extend(struct stacks *stacks);
void stacks_free(struct stacks *stacks);

/* Stack id of the event's stack (a node id); INDEX_NONE where memory is exhausted. */
uint32_t stacks_find(struct stacks *stacks, uint32_t node_id);

/* Brings the row of the node's stack near, for a stacks_find() soon. */
void stacks_expect(const struct stacks *stacks, uint32_t node_id);

/*
 * Steps through a stack's frames, innermost first. `walk` begins as stacks_walk(row).
 * FRAMES_NONE behind the outermost.
 */
struct stack_walk {
    uint32_t node, nodes_left;
    uint32_t next, end; /* frame rows of the node */
};
struct stack_walk stacks_walk(const struct stack_row *row);
uint32_t stacks_walk_next(const struct stacks *stacks, struct stack_walk *walk);

#endif
