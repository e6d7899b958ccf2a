/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the table call_node, the calling context tree, and its index by parent: straight into the
 * pages of a new session, or from the tables of a session that is complete but for it.
 */
#ifndef MPROF_INGEST_WRITE_CALL_NODES_H
#define MPROF_INGEST_WRITE_CALL_NODES_H

#include <sqlite3.h>

#include "ingest/replay/call_tree.h"
#include "ingest/write/pages.h"

/*
 * Puts all nodes of a finished tree into the empty table and index with these root pages. False
 * with the error of `pages` set.
 */
bool writer_call_nodes_pages(const struct call_tree *tree, struct writer_pages *pages,
                             uint32_t table_root, uint32_t index_root);

/*
 * Fills the empty table from the frames of all stacks, with the sums of each stack. Returns
 * SQLite's code.
 */
int writer_call_nodes_derive(sqlite3 *database, const struct stack_usages *stacks);

#endif
