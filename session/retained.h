/* SPDX-License-Identifier: BSD-2-Clause */
/* Who keeps memory alive, at the moments when mprof-run took the references between blocks
 * (heap_snapshot and the tables beside it, schemas/session.sql). A block or a set of blocks retains
 * the bytes that would be unreachable without it, its own included. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct session_heap_snapshot {
    int64_t id, process;
    uint64_t ns;
    char *reason; /* 'asked', 'end', 'signal', 'mark', 'time' */
    char *name;   /* or NULL */
    char *why;    /* words are missing, and why; NULL: they are complete */
    bool partial; /* the recording began later than the program */
    uint64_t stopped_ns, words, threads;
    /* By state. Unknown: not reached, but words or blocks are missing. Otherwise reachable,
     * possibly reachable, and unreachable: by nothing, or by such blocks. */
    struct session_heap_state {
        uint64_t bytes, blocks;
    } reachable, possibly, unreachable, by_unreachable, unknown;
};

struct session_heap_snapshots {
    struct session_heap_snapshot *rows; /* in the order of time */
    size_t count, capacity;
};

/* Reads the snapshots of the selected process, or of all processes. Returns false with `error` set.
 * Call session_heap_snapshots_free() in both cases. */
bool session_heap_snapshots(struct session *session, struct session_heap_snapshots *snapshots,
                            struct session_error *error);
void session_heap_snapshots_free(struct session_heap_snapshots *snapshots);

enum session_retained_by {
    RETAINED_BY_ROOT,
    RETAINED_BY_TYPE,
    RETAINED_BY_USER,
    RETAINED_BY_OWNER,
    RETAINED_BY_BLOCK,
    RETAINED_UNREACHABLE, /* groups of unreachable blocks, by type and user function */
    RETAINED_BY_HOLDER,   /* groups of blocks, by type and by what holds them: their own sizes */
};

struct session_retained_row {
    int64_t id; /* of the root, type, function, owner or block; 0: unknown, or of a root:
                   the blocks that several roots keep together */
    char *name;
    /* The root's kind; the member through which a child is held; of BY_HOLDER that or what holds
     * the blocks; of other blocks and unreachable groups the user function; or NULL. */
    char *place;
    uint64_t own_bytes, own_blocks; /* 0 for a root */
    uint64_t bytes, blocks;         /* retained */
    /* A child may stand for a chain: each of so many blocks has the next one, of the same type
     * through the same member, as its only child. `last` is the end of the chain. */
    uint64_t repeats;
    int64_t last;
};

struct session_retained {
    struct session_retained_row *rows; /* those that retain most first */
    size_t count, capacity;
    uint64_t all; /* rows that there are */
};

/* Reads at most `most` rows (0: all) of the snapshot `id`. Returns false with `error` set. Call
 * session_retained_free() in both cases. */
bool session_retained(struct session *session, int64_t id, enum session_retained_by by, size_t most,
                      struct session_retained *retained, struct session_error *error);

/* The changes between two snapshots, of one session or of two. */
enum session_side { SIDE_BASE, SIDE_NOW, SIDES };

struct session_retained_change {
    const char *name, *place; /* as of the rows of the sides */
    uint64_t bytes[SIDES], blocks[SIDES];
};

struct session_retained_changes {
    struct session_retained_change *rows; /* the largest changes first */
    size_t count;
    struct session_retained of[SIDES]; /* they have the texts */
};

/* Joins the rows of both snapshots that have one name and place, and leaves out what is the same.
 * Not for BY_BLOCK. False with `error` set. Call session_retained_changes_free() in both cases. */
bool session_retained_changes(struct session *const sessions[SIDES], const int64_t snapshots[SIDES],
                              enum session_retained_by by, struct session_retained_changes *changes,
                              struct session_error *error);
void session_retained_changes_free(struct session_retained_changes *changes);

/* Reads the children of a node in the tree of dominators: what only it keeps alive directly. `node`
 * is a block; below 0: a root, times -1; 0: the outside, for what several roots keep. */
bool session_retained_children(struct session *session, int64_t id, int64_t node, size_t most,
                               struct session_retained *retained, struct session_error *error);
void session_retained_free(struct session_retained *retained);

/* Reads a block of the snapshot, the blocks and roots that refer to it, or the blocks to which it
 * refers: one row for each reference. Its `place` then is the member that holds it, which says if
 * it is in doubt, or NULL; the `id` of a root is below 0. No rows: the block was not live then. */
enum session_block_part { BLOCK_ITSELF, BLOCK_REFERRERS, BLOCK_REFERENTS };
bool session_block_references(struct session *session, int64_t id, uint64_t block,
                              enum session_block_part part, size_t most,
                              struct session_retained *retained, struct session_error *error);

/* A node of the graph of references: a root or a live block. Texts live until `each` returns. */
struct session_heap_node {
    int64_t id;              /* of the block; below 0: of a root, times -1 */
    const char *name, *kind; /* of a root; NULL of a block */
    uint32_t type, function; /* of a block, 0: unknown; the user's function, or the call site */
    uint64_t size;
    bool sure;        /* references without doubt lead there from a root */
    bool unreachable; /* no root reaches it */
    bool first;       /* nor does another unreachable block, but in its own circle */
};

struct session_heap_reference {
    int64_t from, to;   /* nodes */
    uint64_t offset;    /* of the word in the block; of a root: its address, or a register */
    const char *member; /* or NULL */
    bool doubt;         /* it may be none: reference.doubt */
};

/* Call `each` for all nodes of the snapshot `id`: the roots, then the blocks, each by ascending
 * number; and for all references, in the order of the nodes from which they come. Return false with
 * `error` set, or if `each` does. */
bool session_heap_nodes(struct session *session, int64_t id,
                        bool (*each)(void *context, const struct session_heap_node *node),
                        void *context, struct session_error *error);
bool session_heap_references(struct session *session, int64_t id,
                             bool (*each)(void *context,
                                          const struct session_heap_reference *reference),
                             void *context, struct session_error *error);

/* A step outward on a shortest path from a block to a root. */
struct session_path_step {
    int64_t id;   /* the block; below 0: a root, times -1 */
    char *name;   /* of its type or of the root */
    char *member; /* the place in the next step that holds the reference to it; or NULL */
    uint64_t
        repeats; /* so many steps of this name and member follow each other; `id` is the first */
};

struct session_path {
    struct session_path_step *steps; /* the block first, and the root last if a root reaches it */
    size_t count, capacity;
    bool cut; /* it goes on */
};

/* Finds that path for a block of the snapshot `id`: no steps if it was not live then. Returns false
 * with `error` set. Call session_path_free() in both cases. */
bool session_path_to_root(struct session *session, int64_t id, uint64_t allocation,
                          struct session_path *path, struct session_error *error);
void session_path_free(struct session_path *path);
