/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/frame_tables.h"

#include "ingest/write/record.h"

void writer_frame_tables_open(struct writer_frame_tables *tables, struct writer_pages *pages,
                              struct writer_frame_roots roots)
{
    writer_btree_open(&tables->nodes, pages, roots.stack_node, WRITER_BTREE_TABLE);
    writer_btree_open(&tables->runs, pages, roots.stack_run, WRITER_BTREE_INDEX);
}

bool writer_frame_tables_node(struct writer_frame_tables *tables, const struct stack_node_row *row)
{
    uint8_t record[4 + 3 * 8], *end = record + 4;
    record[0] = 4;
    record[1] = SERIAL_NULL; /* the id is the row's own number */
    end = writer_put_number(record + 2, end, row->parent);
    end = writer_put_number(record + 3, end, row->frame);
    return writer_btree_put_row(&tables->nodes, row->id, record, (size_t)(end - record));
}

bool writer_frame_tables_run(struct writer_frame_tables *tables, const struct stack_run_row *row)
{
    const uint32_t values[] = {row->stack, row->depth, row->node, row->frames};
    uint8_t record[5 + 5 * 8], *end = record + 5;
    record[0] = 5;
    for (int i = 0; i < 4; i++)
        end = writer_put_number(record + 1 + i, end, values[i]);
    return writer_btree_put_key(&tables->runs, record, (size_t)(end - record));
}

bool writer_frame_tables_finish(struct writer_frame_tables *tables)
{
    return writer_btree_finish(&tables->nodes) && writer_btree_finish(&tables->runs);
}

void writer_frame_tables_close(struct writer_frame_tables *tables)
{
    writer_btree_close(&tables->nodes);
    writer_btree_close(&tables->runs);
}
