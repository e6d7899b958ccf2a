/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes stack_node and stack_run, the frames of all stacks, into the trees of the two tables
 * (btree.h), while SQLite has the file closed.
 *
 * Order of calls: writer_frame_tables_open(), all nodes by ascending id, all runs by ascending
 * stack and then by depth, writer_frame_tables_finish(), and always writer_frame_tables_close().
 * They return false with the error of the pages set.
 */
#ifndef MPROF_INGEST_WRITE_FRAME_TABLES_H
#define MPROF_INGEST_WRITE_FRAME_TABLES_H

#include "ingest/replay/stack_nodes.h"
#include "ingest/write/btree.h"

/* The root pages of the two tables. */
struct writer_frame_roots {
    uint32_t stack_node, stack_run;
};

struct writer_frame_tables {
    struct writer_btree nodes, runs;
};

/* `pages` must outlive the tables. */
void writer_frame_tables_open(struct writer_frame_tables *tables, struct writer_pages *pages,
                              struct writer_frame_roots roots);
bool writer_frame_tables_node(struct writer_frame_tables *tables, const struct stack_node_row *row);
bool writer_frame_tables_run(struct writer_frame_tables *tables, const struct stack_run_row *row);
bool writer_frame_tables_finish(struct writer_frame_tables *tables);
void writer_frame_tables_close(struct writer_frame_tables *tables);

#endif
