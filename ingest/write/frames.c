/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/output_file.h"

/* ---- records ------------------------------------------------------------------------------- */

static bool fail(struct writer_records *records, int error)
{
    if (records->error == 0)
        records->error = error;
    return false;
}

bool writer_records_begin(struct writer_records *records, int descriptor, size_t size)
{
    *records = (struct writer_records){.descriptor = descriptor, .size = size};
    records->waiting = malloc(WRITER_RECORDS_MAX * size);
    return records->waiting || fail(records, ENOMEM);
}

bool writer_records_flush(struct writer_records *records)
{
    const int error =
        write_whole(records->descriptor, records->waiting, records->waiting_count * records->size);
    if (error != 0)
        return fail(records, error);
    records->written += records->waiting_count;
    records->waiting_count = 0;
    return true;
}

bool writer_records_add(struct writer_records *records, const void *record)
{
    if (records->waiting_count == WRITER_RECORDS_MAX && !writer_records_flush(records))
        return false;
    memcpy(records->waiting + records->waiting_count++ * records->size, record, records->size);
    return true;
}

bool writer_records_read(struct writer_records *records, uint64_t first, size_t count, void *to)
{
    const size_t size = count * records->size;
    const size_t done = read_whole(records->descriptor, to, size, first * records->size);
    return done == size || fail(records, errno != 0 ? errno : EIO);
}

void writer_records_end(struct writer_records *records)
{
    free(records->waiting);
    records->waiting = NULL;
}

/* ---- frames -------------------------------------------------------------------------------- */

bool writer_frames_begin(struct writer_frames *frames, int descriptor)
{
    *frames = (struct writer_frames){0};
    return writer_records_begin(&frames->records, descriptor, sizeof(struct writer_frame));
}

bool writer_frames_add_node(struct writer_frames *frames, const struct stack_node_row *row)
{
    const uint64_t id = frames->first_node + row->id, frame = frames->first_frame + row->frame;
    const uint64_t parent = row->parent == 0 ? 0 : frames->first_node + row->parent;
    if (id > UINT32_MAX || frame > UINT32_MAX || parent > UINT32_MAX)
        return fail(&frames->records, EOVERFLOW);
    frames->nodes = id > frames->nodes ? id : frames->nodes;
    return writer_records_add(
        &frames->records,
        &(struct writer_frame){.node = {.id = (uint32_t)id, (uint32_t)parent, (uint32_t)frame, 0}});
}

bool writer_frames_add_run(struct writer_frames *frames, const struct stack_run_row *row)
{
    const uint64_t stack = frames->first_stack + row->stack;
    const uint64_t node = frames->first_node + row->node;
    if (stack > UINT32_MAX || node > UINT32_MAX)
        return fail(&frames->records, EOVERFLOW);
    return writer_records_add(
        &frames->records,
        &(struct writer_frame){.run = {(uint32_t)stack, row->depth, (uint32_t)node, row->frames},
                               .is_run = true});
}

/* Calls `each` for all rows, which it reads into `rows`. */
static bool read_each(struct writer_frames *frames, struct writer_frame *rows,
                      bool (*each)(void *context, const struct writer_frame *row), void *context)
{
    const uint64_t total = frames->records.written;
    size_t count;
    for (uint64_t place = 0; place < total; place += count) {
        count = total - place < WRITER_RECORDS_MAX ? (size_t)(total - place) : WRITER_RECORDS_MAX;
        if (!writer_records_read(&frames->records, place, count, rows))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!each(context, &rows[i]))
                return false;
    }
    return true;
}

bool writer_frames_each(struct writer_frames *frames,
                        bool (*each)(void *context, const struct writer_frame *row), void *context)
{
    if (!writer_records_flush(&frames->records))
        return false;
    struct writer_frame *rows = malloc(WRITER_RECORDS_MAX * sizeof(*rows));
    const bool good =
        rows ? read_each(frames, rows, each, context) : fail(&frames->records, ENOMEM);
    free(rows);
    return good;
}

void writer_frames_end(struct writer_frames *frames)
{
    writer_records_end(&frames->records);
}

/* ---- frame tables -------------------------------------------------------------------------- */

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
