/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexes and reads the chunks that are packed in containers (index.h). */
#include <stdlib.h>
#include <string.h>

#include "ingest/trace/index.h"
#include "schemas/pack/trace_packed.h"

/* RECORD_HEAD_MAX: kind, type and length of a record, then method and count of its payload. */
enum { RECORD_HEAD_MAX = 64, SEARCH_BLOCK = 16384 };

/* Adds an entry for bytes that cannot be read as containers: all of it is damage. */
static bool add_damage(struct trace_file *file, uint64_t offset, uint64_t number, uint64_t lost,
                       const char *damage)
{
    struct trace_slot *slot = trace_index_add(file);
    if (!slot)
        return false;
    slot->offset = offset;
    slot->number = (uint32_t)number;
    slot->lost = lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX;
    slot->damage = damage;
    return true;
}

/* Adds the chunks of one payload, whose beginning is open as `packed`. */
static bool add_chunks(struct trace_file *file, const struct trace_packed *packed, uint64_t offset,
                       uint64_t length)
{
    uint64_t start = 0;
    for (uint64_t i = 0; i < packed->chunks; i++) {
        struct trace_chunk_header header;
        struct trace_slot *slot = trace_index_add(file);
        if (!slot)
            return false;
        trace_packed_header(packed, i, &header);
        slot->number = header.slot;
        slot->offset = TRACE_FILE_HEADER_SIZE + (uint64_t)header.slot * file->header.chunk_size;
        trace_index_describe(file, slot, &header, sizeof(header), file->header.chunk_size);
        if (!slot->damage && slot->thread == TRACE_THREAD_PACKED)
            slot->damage = "a container in a container";
        if (!slot->damage && start + header.commit > TRACE_PACKED_MAX)
            slot->damage = "more chunks in a container than it can hold";
        if (slot->damage) {
            slot->lost = file->header.chunk_size;
            slot->offset = offset;
        }
        slot->packed_start = (uint32_t)start;
        slot->packed_length = (uint32_t)length;
        slot->packed_offset = offset;
        if (start < TRACE_PACKED_MAX && header.commit >= TRACE_CHUNK_HEADER_SIZE)
            start += header.commit - TRACE_CHUNK_HEADER_SIZE;
    }
    return true;
}

/*
 * Adds the chunks of the record at `offset`, which may have up to `length` bytes. *next: its length
 * in bytes; 0: there is no record here. False if memory is exhausted.
 */
static bool add_record(struct trace_file *file, uint64_t offset, uint64_t length, uint64_t *next)
{
    uint8_t head[RECORD_HEAD_MAX];
    struct trace_packed packed;
    uint64_t type, payload, method, chunks;
    size_t there =
        trace_file_read(file, offset, head, length < sizeof(head) ? length : sizeof(head));
    const uint8_t *at = head, *end = head + there;
    *next = 0;
    if (there == 0 || *at++ != TRACE_EXTENDED || !trace_get_varint(&at, end, &type) ||
        !trace_get_varint(&at, end, &payload))
        return true;
    uint64_t before = (uint64_t)(at - head);
    if (payload > length - before)
        return true;
    /* A container holds nothing else, so an unknown type is damage here. */
    if (type != TRACE_EXT_PACKED)
        return true;
    if (!trace_get_varint(&at, end, &method) || !trace_get_varint(&at, end, &chunks) ||
        chunks > payload / TRACE_CHUNK_HEADER_SIZE)
        return true;
    size_t size = (size_t)(at - head) - before + chunks * TRACE_CHUNK_HEADER_SIZE;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return false;
    bool good = true;
    if (trace_file_read(file, offset + before, bytes, size) == size &&
        trace_packed_open(&packed, bytes, size)) {
        *next = before + payload;
        good = add_chunks(file, &packed, offset + before, payload);
    }
    free(bytes);
    return good;
}

bool trace_containers_add(struct trace_file *file, uint64_t offset, uint64_t length)
{
    uint64_t at = offset + TRACE_CHUNK_HEADER_SIZE, end = offset + length, next;
    while (at < end) {
        if (!add_record(file, at, end - at, &next))
            return false;
        if (next == 0)
            return add_damage(file, at, (offset - TRACE_FILE_HEADER_SIZE) / file->header.chunk_size,
                              end - at, "there are no packed chunks here");
        at += next;
    }
    return true;
}

static bool container_stands_at(const struct trace_file *file, uint64_t offset,
                                struct trace_chunk_header *header)
{
    memset(header, 0, sizeof(*header));
    size_t length = trace_file_read(file, offset, header, sizeof(*header));
    return !trace_index_check(file, header, length) && header->thread == TRACE_THREAD_PACKED &&
           header->commit > TRACE_CHUNK_HEADER_SIZE && header->commit <= TRACE_PACKED_MAX;
}

/* Returns where the next container after `offset` begins, or the file's size if there is none. */
static uint64_t next_container(const struct trace_file *file, uint64_t offset)
{
    static const uint8_t magic[4] = {'M', 'P', 'C', 'K'};
    uint8_t block[SEARCH_BLOCK];
    struct trace_chunk_header header;
    size_t length;
    for (offset++; (length = trace_file_read(file, offset, block, sizeof(block))) >= sizeof(magic);
         offset += length - sizeof(magic) + 1)
        for (const uint8_t *at = block;
             (at = memmem(at, (size_t)(block + length - at), magic, sizeof(magic))); at++)
            if (container_stands_at(file, offset + (uint64_t)(at - block), &header))
                return offset + (uint64_t)(at - block);
    return file->size;
}

/* Marks those chunks from index `first` on as damaged that reach past the end of the file. */
static void mark_cut(struct trace_file *file, size_t first)
{
    for (size_t i = first; i < file->slot_count; i++) {
        struct trace_slot *slot = &file->slots[i];
        if (slot->damage || slot->packed_offset + slot->packed_length <= file->size)
            continue;
        slot->damage = "the file ends within its container";
        slot->lost = slot->commit;
        slot->offset = slot->packed_offset;
    }
}

bool trace_containers_index(struct trace_file *file)
{
    uint64_t offset = TRACE_FILE_HEADER_SIZE;
    while (offset < file->size) {
        struct trace_chunk_header header;
        if (container_stands_at(file, offset, &header)) {
            size_t first = file->slot_count;
            if (!trace_containers_add(file, offset, header.commit))
                return false;
            mark_cut(file, first);
            if (header.slot >= file->containers)
                file->containers = (uint64_t)header.slot + 1;
            offset += header.commit;
            continue;
        }
        uint64_t next = next_container(file, offset);
        if (!add_damage(file, offset, file->containers, next - offset,
                        "there is no container of packed chunks here"))
            return false;
        offset = next;
    }
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct trace_slot *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    /* A packed chunk comes before the chunk in its slot. */
    return (x->packed_length == 0) - (y->packed_length == 0);
}

bool trace_containers_drop_duplicates(struct trace_file *file)
{
    size_t kept = 0;
    if (file->slot_count == 0)
        return true;
    file->unpacked = calloc(1, sizeof(*file->unpacked));
    if (!file->unpacked)
        return false;
    qsort(file->slots, file->slot_count, sizeof(*file->slots), compare_numbers);
    for (size_t i = 0; i < file->slot_count; i++) {
        const struct trace_slot *slot = &file->slots[i],
                                *before = kept ? &file->slots[kept - 1] : NULL;
        bool twice = before && before->number == slot->number && !before->damage && !slot->damage &&
                     before->packed_length != 0;
        if (!twice)
            file->slots[kept++] = *slot;
    }
    file->slot_count = kept;
    return true;
}

/* Unpacks the payload that holds the slot's chunk, unless it was the last one unpacked. */
static bool unpack(const struct trace_file *file, const struct trace_slot *slot)
{
    struct trace_unpacked *unpacked = file->unpacked;
    struct trace_packed packed;
    if (unpacked->offset == slot->packed_offset)
        return true;
    unpacked->offset = 0;
    uint8_t *payload = malloc(slot->packed_length), *records = NULL;
    size_t size = SIZE_MAX;
    if (payload &&
        trace_file_read(file, slot->packed_offset, payload, slot->packed_length) ==
            slot->packed_length &&
        trace_packed_open(&packed, payload, slot->packed_length))
        size = trace_packed_size(&packed);
    if (size != SIZE_MAX)
        records = realloc(unpacked->records, size + 1);
    bool good = records != NULL;
    if (good) {
        unpacked->records = records;
        unpacked->size = size;
        good = trace_packed_records(&packed, records);
    }
    if (good)
        unpacked->offset = slot->packed_offset;
    free(payload);
    return good;
}

size_t trace_containers_read(const struct trace_file *file, const struct trace_slot *slot,
                             uint8_t *buffer)
{
    size_t length = slot->available - TRACE_CHUNK_HEADER_SIZE;
    if (!unpack(file, slot) || slot->packed_start > file->unpacked->size ||
        length > file->unpacked->size - slot->packed_start)
        return 0;
    memset(buffer, 0, TRACE_CHUNK_HEADER_SIZE);
    memcpy(buffer + TRACE_CHUNK_HEADER_SIZE, file->unpacked->records + slot->packed_start, length);
    return slot->available;
}

void trace_containers_free(struct trace_file *file)
{
    if (file->unpacked)
        free(file->unpacked->records);
    free(file->unpacked);
}
