/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts which types the blocks of each stack have, and those of each size: the tables stack_type
 * and size_type. Only blocks of the process heap count, as in all sums.
 *
 * Nearly every stack makes blocks of one type. So the pass over the rows counts only those of other
 * types; the first type of a stack has what is left of the stack's sums.
 *
 * Order of calls: type_pairs_add() for each batch, type_pairs_pages() or type_pairs_put(),
 * type_pairs_free(). Memory is bounded by the number of stacks and of pairs. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "ingest/base/array.h"
#include "ingest/replay/call_tree.h"
#include "ingest/replay/residency.h"
#include "ingest/replay/row_batch.h"
#include "ingest/replay/totals.h"
#include "ingest/write/btree.h"
#include "ingest/write/frames.h"

/* All bytes 0: nothing is counted yet. */
struct type_pairs {
    uint32_t *first; /* by stack: its first type + 1; 0: no rows yet */
    size_t stack_count, stack_capacity;
    struct stack_type *others; /* of stacks with several types */
    size_t other_count, other_capacity;
    struct size_type *sizes;
    size_t size_count, size_capacity;
    struct index_map by_stack, by_size;
    uint32_t recent[1024]; /* index into `sizes` + 1 of pairs that occurred lately */
    bool failed;           /* memory was exhausted: the counts are wrong */
};

/* Counts the rows of a batch. */
void type_pairs_add(struct type_pairs *pairs, const struct row_batch *batch);

/* Put both tables, which are empty: into pages, at these roots, or by SQL. `stacks` has the sums of
 * each stack. The first returns false with the error of `pages` set, or ENOMEM; the second returns
 * SQLite's code. */
bool type_pairs_pages(struct type_pairs *pairs, const struct stack_usages *stacks,
                      struct writer_pages *pages, uint32_t stack_root, uint32_t size_root);
int type_pairs_put(struct type_pairs *pairs, const struct stack_usages *stacks, sqlite3 *database);
void type_pairs_free(struct type_pairs *pairs);

/* Puts the sums of all moments into the empty table residency_stack with this root page. Returns as
 * type_pairs_pages() does. */
bool writer_residency_pages(const struct residency *residency, struct writer_pages *pages,
                            uint32_t root);
/* Puts rows that were kept, each RESIDENCY_SUM_VALUES numbers. */
bool writer_residency_rows_pages(struct writer_records *rows, struct writer_pages *pages,
                                 uint32_t root);

/* ---- call nodes ---------------------------------------------------------------------------- */

/* Writes the table call_node, the calling context tree, and its index by parent, straight into
 * the pages of a new session. */

/* Puts all nodes of a finished tree into the empty table and index with these root pages. False
 * with the error of `pages` set. */
bool writer_call_nodes_pages(const struct call_tree *tree, struct writer_pages *pages,
                             uint32_t table_root, uint32_t index_root);
