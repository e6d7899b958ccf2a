/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/base/array.h"

struct trace_slot *trace_index_add(struct trace_file *file)
{
    if (!array_reserve(&file->slots, &file->slot_capacity, file->slot_count + 1,
                       sizeof(*file->slots)))
        return NULL;
    struct trace_slot *slot = &file->slots[file->slot_count++];
    memset(slot, 0, sizeof(*slot));
    return slot;
}

const char *trace_index_check(const struct trace_file *file,
                              const struct trace_chunk_header *header, size_t length)
{
    if (length < sizeof(*header))
        return "the file ends within the chunk header";
    if (header->magic != TRACE_CHUNK_MAGIC)
        return "wrong chunk magic";
    if (header->header_sum !=
        (uint32_t)trace_sum(header, offsetof(struct trace_chunk_header, header_sum)))
        return "wrong sum of the chunk header";
    if (header->trace_id != file->header.trace_id)
        return "the chunk belongs to another trace";
    return NULL;
}

void trace_index_describe(const struct trace_file *file, struct trace_slot *slot,
                          const struct trace_chunk_header *header, size_t length, uint32_t extent)
{
    uint32_t chunk_size = file->header.chunk_size;
    slot->thread = header->thread;
    slot->sequence = header->sequence;
    slot->base_ticks = header->base_ticks;
    slot->base_monotonic_ns = header->base_monotonic_ns;
    slot->sum = header->sum;
    slot->sealed = header->flags & TRACE_CHUNK_SEALED;
    slot->commit = header->commit;
    slot->available = extent < header->commit ? extent : header->commit;
    slot->damage = trace_index_check(file, header, length);
    if (!slot->damage && header->slot != slot->number)
        slot->damage = "the chunk belongs in another slot";
    if (!slot->damage && (header->commit < TRACE_CHUNK_HEADER_SIZE || header->commit > chunk_size))
        slot->damage = "impossible commit";
    if (!slot->damage && header->thread == 0)
        slot->damage = "thread number 0";
    if (slot->damage)
        slot->lost = extent;
}

/* Returns the offset of the first byte at or after `offset` that is not in a hole of the file. */
static uint64_t next_data(const struct trace_file *file, uint64_t offset)
{
    off_t at = lseek(file->descriptor, (off_t)offset, SEEK_DATA);
    if (at >= 0)
        return (uint64_t)at;
    return errno == ENXIO ? file->size : offset;
}

/*
 * Indexes the slots with one read each. After a slot that was never begun, the rest of the file may
 * be one hole (reserved space, or a hostile length). Holes are skipped, not read.
 */
static bool index_slots(struct trace_file *file)
{
    static const uint8_t zeros[TRACE_CHUNK_HEADER_SIZE];
    uint64_t chunk_size = file->header.chunk_size;
    uint64_t offset = TRACE_FILE_HEADER_SIZE;
    while (offset < file->size) {
        struct trace_chunk_header header = {0};
        size_t length = trace_file_read(file, offset, &header, sizeof(header));
        header.look = 0; /* another process may have set it when the chunk had just been packed */
        if (memcmp(&header, zeros, sizeof(header)) == 0) {
            uint64_t data = next_data(file, offset);
            uint64_t slots = (data > offset ? data - offset : 0) / chunk_size;
            offset += (slots ? slots : 1) * chunk_size;
            continue;
        }
        struct trace_slot *slot = trace_index_add(file);
        if (!slot)
            return false;
        uint64_t extent = file->size - offset < chunk_size ? file->size - offset : chunk_size;
        slot->offset = offset;
        slot->number = (uint32_t)((offset - TRACE_FILE_HEADER_SIZE) / chunk_size);
        trace_index_describe(file, slot, &header, length, (uint32_t)extent);
        if (!slot->damage && slot->thread == TRACE_THREAD_PACKED) {
            file->slot_count--; /* the index has the chunks in a container, not the container */
            if (!trace_containers_add(file, offset, slot->available))
                return false;
        }
        offset += chunk_size;
    }
    return true;
}

/* A pointer to sort. clang-tidy takes the sizeof of a bare one for a mistake. */
struct part {
    struct trace_slot *slot;
};

/* Sorts by thread, its sequence and slot. */
static int compare_parts(const void *a, const void *b)
{
    const struct trace_slot *x = ((const struct part *)a)->slot,
                            *y = ((const struct part *)b)->slot;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Marks chunks as damaged that repeat a part of a thread. No recorder writes a part twice. */
static bool refuse_copies(struct trace_file *file)
{
    struct part *parts = malloc((file->slot_count + 1) * sizeof(*parts));
    size_t count = 0;
    if (!parts)
        return false;
    for (size_t i = 0; i < file->slot_count; i++)
        if (!file->slots[i].damage)
            parts[count++].slot = &file->slots[i];
    qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 1; i < count; i++) {
        struct trace_slot *slot = parts[i].slot, *before = parts[i - 1].slot;
        if (slot->thread != before->thread || slot->sequence != before->sequence)
            continue;
        slot->damage = "an earlier slot has the same part of its thread";
        slot->lost = slot->commit;
    }
    free(parts);
    return true;
}

bool trace_index(struct trace_file *file, struct ingest_status *status)
{
    bool dense = file->header.flags & TRACE_FILE_DENSE;
    bool packed = dense || (file->header.flags & TRACE_FILE_PACKED);
    if (!(dense ? trace_containers_index(file) : index_slots(file)) ||
        (packed && !trace_containers_drop_duplicates(file)) || !refuse_copies(file))
        return ingest_fail_memory(status, "the index of chunks");
    return true;
}
