/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/frames.h"

#include <errno.h>
#include <stdlib.h>

static bool fail(struct writer_frames *frames, int error)
{
    if (frames->records.error == 0)
        frames->records.error = error;
    return false;
}

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
        return fail(frames, EOVERFLOW);
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
        return fail(frames, EOVERFLOW);
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
    const bool good = rows ? read_each(frames, rows, each, context) : fail(frames, ENOMEM);
    free(rows);
    return good;
}

void writer_frames_end(struct writer_frames *frames)
{
    writer_records_end(&frames->records);
}
