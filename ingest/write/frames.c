/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The number of rows that are written or read at once. */
enum { WAITING_MAX = 8192 };

static bool fail(struct writer_frames *frames, int error)
{
    if (frames->error == 0)
        frames->error = error;
    return false;
}

bool writer_frames_begin(struct writer_frames *frames, int descriptor)
{
    *frames = (struct writer_frames){.descriptor = descriptor};
    frames->waiting = malloc(WAITING_MAX * sizeof(*frames->waiting));
    return frames->waiting || fail(frames, ENOMEM);
}

static bool flush(struct writer_frames *frames)
{
    const char *bytes = (const char *)frames->waiting;
    size_t left = frames->waiting_count * sizeof(*frames->waiting);
    while (left > 0) {
        ssize_t count = write(frames->descriptor, bytes, left);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return fail(frames, count < 0 ? errno : EIO);
        bytes += count;
        left -= (size_t)count;
    }
    frames->written += frames->waiting_count;
    frames->waiting_count = 0;
    return true;
}

static bool add(struct writer_frames *frames, const struct writer_frame *row)
{
    if (frames->waiting_count == WAITING_MAX && !flush(frames))
        return false;
    frames->waiting[frames->waiting_count++] = *row;
    return true;
}

bool writer_frames_add_node(struct writer_frames *frames, const struct stack_node_row *row)
{
    const uint64_t id = frames->first_node + row->id, frame = frames->first_frame + row->frame;
    const uint64_t parent = row->parent == 0 ? 0 : frames->first_node + row->parent;
    if (id > UINT32_MAX || frame > UINT32_MAX || parent > UINT32_MAX)
        return fail(frames, EOVERFLOW);
    frames->nodes = id > frames->nodes ? id : frames->nodes;
    return add(frames, &(struct writer_frame){
                           .node = {.id = (uint32_t)id, (uint32_t)parent, (uint32_t)frame, 0}});
}

bool writer_frames_add_run(struct writer_frames *frames, const struct stack_run_row *row)
{
    const uint64_t stack = frames->first_stack + row->stack;
    const uint64_t node = frames->first_node + row->node;
    if (stack > UINT32_MAX || node > UINT32_MAX)
        return fail(frames, EOVERFLOW);
    return add(frames, &(struct writer_frame){
                           .run = {(uint32_t)stack, row->depth, (uint32_t)node, row->frames},
                           .is_run = true});
}

/* Reads the next rows of the file, at most WAITING_MAX. Returns how many, 0 with `error` set. */
static size_t read_rows(struct writer_frames *frames, uint64_t place)
{
    const uint64_t left = frames->written - place;
    const size_t count = left < WAITING_MAX ? (size_t)left : WAITING_MAX;
    const size_t size = count * sizeof(*frames->waiting);
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(frames->descriptor, (char *)frames->waiting + done, size - done,
                            (off_t)(place * sizeof(*frames->waiting) + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            fail(frames, got < 0 ? errno : EIO);
            return 0;
        }
        done += (size_t)got;
    }
    return count;
}

bool writer_frames_each(struct writer_frames *frames,
                        bool (*each)(void *context, const struct writer_frame *row), void *context)
{
    size_t count;
    if (!flush(frames))
        return false;
    for (uint64_t place = 0; place < frames->written; place += count) {
        count = read_rows(frames, place);
        if (count == 0)
            return false;
        for (size_t i = 0; i < count; i++)
            if (!each(context, &frames->waiting[i]))
                return false;
    }
    return true;
}

void writer_frames_end(struct writer_frames *frames)
{
    free(frames->waiting);
    frames->waiting = NULL;
}
