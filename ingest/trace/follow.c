/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/follow.h"

#include <stdlib.h>

#include "ingest/base/array.h"

/* A chunk as it was at the last poll. */
struct chunk {
    struct trace_slot slot;
    struct trace_cursor *scan; /* positioned after the scanned records; NULL: not begun, or done */
    bool known, scanned, closed;
};

struct trace_follow {
    struct trace_file *file;
    struct trace_scanner scanner;
    struct merge *merge;
    struct chunk **chunks; /* by slot number, NULL: not begun yet */
    size_t chunk_capacity, chunk_count;
    uint64_t limit, seen; /* highest stamps that the polls have seen */
    uint64_t committed;
};

struct trace_follow *trace_follow_new(struct trace_file *file, struct trace_scanner scanner)
{
    struct trace_follow *follow = calloc(1, sizeof(*follow));
    if (!follow || !(follow->merge = merge_new_growing(file))) {
        free(follow);
        return NULL;
    }
    follow->file = file;
    follow->scanner = scanner;
    return follow;
}

static void close_scan(struct chunk *chunk)
{
    if (chunk->scan)
        trace_cursor_close(chunk->scan);
    free(chunk->scan);
    chunk->scan = NULL;
}

void trace_follow_free(struct trace_follow *follow)
{
    if (!follow)
        return;
    merge_free(follow->merge);
    for (size_t i = 0; i < follow->chunk_count; i++)
        if (follow->chunks[i]) {
            close_scan(follow->chunks[i]);
            free(follow->chunks[i]);
        }
    free(follow->chunks);
    free(follow);
}

/* Scans the records that the chunk has gained. */
static bool scan_chunk(struct trace_follow *follow, struct chunk *chunk)
{
    bool begins = !chunk->scan;
    if (begins && !(chunk->scan = calloc(1, sizeof(*chunk->scan))))
        return false;
    if (begins ? !trace_cursor_open(chunk->scan, follow->file, &chunk->slot)
               : !trace_cursor_extend(chunk->scan, follow->file))
        return false;
    if (!follow->scanner.read(follow->scanner.context, chunk->scan, begins))
        return false;
    if (chunk->closed) {
        close_scan(chunk);
        chunk->scanned = true;
    }
    return true;
}

static struct chunk *find_chunk(struct trace_follow *follow, uint32_t number)
{
    if (!array_reserve(&follow->chunks, &follow->chunk_capacity, (size_t)number + 1,
                       sizeof(struct chunk *)))
        return NULL;
    if (follow->chunk_count <= number)
        follow->chunk_count = (size_t)number + 1;
    if (!follow->chunks[number])
        follow->chunks[number] = calloc(1, sizeof(*follow->chunks[number]));
    return follow->chunks[number];
}

/* Takes a slot as it is now. One that is just being begun may look damaged, but the next poll sees
 * it whole. */
static bool poll_slot(struct trace_follow *follow, const struct trace_slot *slot)
{
    if (slot->damage)
        return true;
    struct chunk *chunk = find_chunk(follow, slot->number);
    if (!chunk)
        return false;
    follow->committed += slot->available;
    if (!chunk->known &&
        !merge_add(follow->merge, (struct merge_chunk){&chunk->slot, &chunk->closed}))
        return false;
    /* One read gets the seal and the commit, but they are written one after the other. */
    chunk->closed = chunk->known && chunk->slot.sealed && chunk->slot.commit == slot->commit;
    chunk->known = true;
    chunk->slot = *slot;
    return chunk->scanned || scan_chunk(follow, chunk);
}

bool trace_follow_poll(struct trace_follow *follow, struct ingest_status *status)
{
    const struct trace_slot *slots;
    bool good = trace_file_refresh(follow->file, status);
    size_t count = good ? trace_file_slots(follow->file, &slots) : 0;
    follow->committed = 0;
    follow->limit = follow->seen;
    merge_step(follow->merge);
    for (size_t i = 0; good && i < count; i++)
        good = poll_slot(follow, &slots[i]);
    good = good && follow->scanner.polled(follow->scanner.context, &follow->seen) &&
           merge_wake(follow->merge, follow->limit);
    return good || (status->code == INGEST_OK && ingest_fail_memory(status, "the open chunks"));
}

uint64_t trace_follow_limit(const struct trace_follow *follow)
{
    return follow->limit;
}

void trace_follow_lift_limit(struct trace_follow *follow)
{
    follow->limit = follow->seen;
    merge_set_last(follow->merge, follow->limit);
}

uint64_t trace_follow_committed(const struct trace_follow *follow)
{
    return follow->committed;
}

bool trace_follow_next(struct trace_follow *follow, struct trace_event *event,
                       struct ingest_status *status)
{
    return merge_next(follow->merge, event, status);
}
