/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells for each snapshot of references who keeps each live block alive: the tables root,
 * reference, retained and retained_group, from heap_snapshot and the tables beside it.
 *
 * A word in a live block is a reference from that block if it holds an address in a live block. A
 * word outside of the heap belongs to a root: a module's data, a stack, the registers of a thread,
 * a mapping of the program's own. A word in memory that the allocator keeps for itself is none.
 * Blocks that references from roots reach are reachable, or possibly so if each way leads through a
 * reference into the middle of a block that no layout of its type explains; the rest is
 * unreachable. A block retains what its removal would make unreachable: its subtree in the tree of
 * dominators. References in doubt count there only for blocks that no others reach.
 *
 * Memory: about 100 bytes a live block and 25 a reference.
 */
#pragma once

#include "ingest/write/database.h"

/* Fills the tables for all snapshots of the session, whose other tables are complete. False with
 * the database's status set. */
bool writer_references_put(struct writer_database *database);
