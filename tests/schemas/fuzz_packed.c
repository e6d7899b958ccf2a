/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target for packed chunks. The first byte tells what the rest is: a payload of a trace, or
 * records of chunks, which must come back byte for byte. With clang and MPROF_FUZZ it is a
 * libFuzzer program; otherwise tests/fuzz_replay.c replays the corpus.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/pack/trace_packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 1 << 16 };

/* Reads any payload. Nothing may be written beyond the size of its records. */
static void read_payload(const uint8_t *data, size_t size)
{
    struct trace_packed packed;
    struct trace_chunk_header header;
    if (!trace_packed_open(&packed, data, size))
        return;
    for (uint64_t i = 0; i < packed.chunks; i++)
        trace_packed_header(&packed, i, &header);
    size_t records_size = trace_packed_size(&packed);
    if (records_size > ROOM)
        return;
    uint8_t *records = malloc(records_size + 1);
    if (records)
        trace_packed_records(&packed, records);
    free(records);
}

/* Adds a chunk with a copy of `size` bytes of records. */
static void add_chunk(struct trace_packer *packer, const uint8_t *data, size_t size)
{
    struct trace_chunk_header header = {.magic = TRACE_CHUNK_MAGIC,
                                        .commit = (uint32_t)(sizeof(header) + size)};
    uint8_t *chunk = malloc(sizeof(header) + size);
    if (!chunk)
        abort();
    memcpy(chunk, &header, sizeof(header));
    if (size > 0)
        memcpy(chunk + sizeof(header), data, size);
    if (!trace_packer_add(packer, chunk, sizeof(header) + size))
        abort();
    free(chunk);
}

/* Packs two chunks, cut anywhere: packing does not mind if a record continues in the next one. */
static void pack_and_read(const uint8_t *data, size_t size)
{
    struct trace_packed packed;
    struct trace_packer *packer =
        trace_packer_new(ROOM, data[0] & 1 ? TRACE_PACK_SMALL : TRACE_PACK_QUICK);
    size_t length, first = data[0] % size;
    if (!packer || size > ROOM)
        abort();
    add_chunk(packer, data, first);
    add_chunk(packer, data + first, size - first);
    const uint8_t *payload = trace_packer_end(packer, &length);
    uint8_t *records = malloc(size);
    if (!payload || !records || !trace_packed_open(&packed, payload, length) ||
        packed.chunks != 2 || trace_packed_size(&packed) != size ||
        !trace_packed_records(&packed, records) || memcmp(records, data, size) != 0)
        abort();
    free(records);
    trace_packer_free(packer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > ROOM)
        return 0;
    if (data[0] % 2 == 0)
        read_payload(data + 1, size - 1);
    else
        pack_and_read(data + 1, size - 1);
    return 0;
}
