/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/ingest/trace_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START_TICKS = 1000 };
static const uint64_t start_monotonic_ns = 5000000;

static void need(bool good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

static uint64_t monotonic(const struct trace_builder *builder, uint64_t ticks)
{
    uint64_t ns = ticks - START_TICKS;
    return start_monotonic_ns + (builder->header.clock == TRACE_CLOCK_TSC ? ns / 2 : ns);
}

/* Adds room for `length` zero bytes at the end of the file. Returns their offset. */
static size_t extend(struct trace_builder *builder, size_t length)
{
    size_t at = builder->length;
    if (at + length > builder->capacity) {
        builder->capacity = (at + length) * 2;
        builder->bytes = realloc(builder->bytes, builder->capacity);
        need(builder->bytes != NULL, "trace_builder");
    }
    memset(builder->bytes + at, 0, length);
    builder->length = at + length;
    return at;
}

struct trace_builder *trace_builder_new(uint32_t chunk_size, enum trace_clock clock)
{
    struct trace_builder *builder = calloc(1, sizeof(*builder));
    need(builder != NULL, "trace_builder");
    memcpy(builder->header.magic, TRACE_MAGIC, 8);
    builder->header.version = TRACE_VERSION;
    builder->header.header_size = TRACE_FILE_HEADER_SIZE;
    builder->header.chunk_size = chunk_size;
    builder->header.clock = (uint32_t)clock;
    builder->header.architecture = 62;
    builder->header.trace_id = UINT64_C(0x1122334455667788);
    builder->header.start_ticks = START_TICKS;
    builder->header.start_monotonic_ns = start_monotonic_ns;
    builder->header.start_realtime_ns = UINT64_C(1700000000123456789);
    builder->header.pid = 4242;
    builder->header.page_size = 4096;
    extend(builder, TRACE_FILE_HEADER_SIZE);
    trace_builder_end(builder, TRACE_STATE_RECORDING, 0);
    return builder;
}

void trace_builder_free(struct trace_builder *builder)
{
    free(builder->bytes);
    free(builder);
}

void trace_builder_end(struct trace_builder *builder, enum trace_state state, uint64_t end_ticks)
{
    struct trace_file_header *header = &builder->header;
    header->state = (uint32_t)state;
    header->end_ticks = end_ticks;
    header->end_monotonic_ns = end_ticks ? monotonic(builder, end_ticks) : 0;
    header->chunk_count =
        (uint32_t)((builder->length - TRACE_FILE_HEADER_SIZE) / header->chunk_size);
    header->header_sum = trace_sum(header, offsetof(struct trace_file_header, header_sum));
    memcpy(builder->bytes, header, sizeof(*header));
}

void trace_builder_save(const struct trace_builder *builder, const char *path)
{
    FILE *file = fopen(path, "wb");
    need(file != NULL, path);
    need(fwrite(builder->bytes, 1, builder->length, file) == builder->length, path);
    need(fclose(file) == 0, path);
}

void trace_builder_unused_slot(struct trace_builder *builder)
{
    extend(builder, builder->header.chunk_size);
}

static uint8_t *chunk(const struct lane *lane)
{
    const struct trace_builder *builder = lane->builder;
    return builder->bytes + TRACE_FILE_HEADER_SIZE +
           (size_t)lane->slot * builder->header.chunk_size;
}

static void begin_chunk(struct lane *lane, uint64_t base_ticks)
{
    struct trace_builder *builder = lane->builder;
    struct trace_chunk_header header = {.magic = TRACE_CHUNK_MAGIC,
                                        .thread = lane->thread,
                                        .sequence = lane->sequence,
                                        .trace_id = builder->header.trace_id,
                                        .base_ticks = base_ticks,
                                        .base_monotonic_ns = monotonic(builder, base_ticks),
                                        .commit = TRACE_CHUNK_HEADER_SIZE};
    size_t at = extend(builder, builder->header.chunk_size);
    lane->slot = (uint32_t)((at - TRACE_FILE_HEADER_SIZE) / builder->header.chunk_size);
    lane->used = TRACE_CHUNK_HEADER_SIZE;
    header.slot = lane->slot;
    header.header_sum =
        (uint32_t)trace_sum(&header, offsetof(struct trace_chunk_header, header_sum));
    memcpy(builder->bytes + at, &header, sizeof(header));
    trace_coding_reset(&lane->coding, base_ticks);
}

void lane_begin(struct lane *lane, struct trace_builder *builder, uint32_t thread,
                uint64_t base_ticks)
{
    lane->builder = builder;
    lane->thread = thread;
    lane->sequence = 0;
    begin_chunk(lane, base_ticks);
}

void lane_seal(struct lane *lane)
{
    struct trace_chunk_header header;
    memcpy(&header, chunk(lane), sizeof(header));
    header.flags = TRACE_CHUNK_SEALED;
    header.sum = trace_sum(chunk(lane) + sizeof(header), header.commit - sizeof(header));
    memcpy(chunk(lane), &header, sizeof(header));
}

/* Returns the place of the next record, which may need `length` bytes. */
static uint8_t *room(struct lane *lane, size_t length)
{
    if (lane->used + length > lane->builder->header.chunk_size) {
        lane_seal(lane);
        lane->sequence++;
        begin_chunk(lane, lane->coding.ticks);
    }
    return chunk(lane) + lane->used;
}

static void commit(struct lane *lane, const uint8_t *end)
{
    uint32_t committed = (uint32_t)(end - chunk(lane));
    lane->used = committed;
    memcpy(chunk(lane) + offsetof(struct trace_chunk_header, commit), &committed, 4);
}

void lane_node(struct lane *lane, uint32_t id, uint32_t parent, enum trace_node_frame frame,
               uint32_t module, uint64_t value)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane, trace_put_node(p, &lane->coding, id, parent, frame, module, value));
}

void lane_alloc_kind(struct lane *lane, uint64_t ticks, uint64_t address, uint64_t size,
                     uint32_t stack, enum trace_alloc_kind kind, unsigned log2_alignment)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane,
           trace_put_alloc(p, &lane->coding, ticks, address, size, stack, kind, log2_alignment));
}

void lane_alloc(struct lane *lane, uint64_t ticks, uint64_t address, uint64_t size, uint32_t stack)
{
    lane_alloc_kind(lane, ticks, address, size, stack, TRACE_KIND_MALLOC, 0);
}

void lane_free(struct lane *lane, uint64_t ticks, uint64_t address)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane, trace_put_free(p, &lane->coding, ticks, address));
}

void lane_arena_alloc(struct lane *lane, uint64_t ticks, uint32_t arena, uint64_t address,
                      uint64_t size, uint64_t count, uint32_t stack)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane,
           trace_put_arena_alloc(p, &lane->coding, ticks, arena, address, size, count, stack, 0));
}

void lane_arena_kind(struct lane *lane, uint64_t ticks, uint32_t arena, uint64_t address,
                     uint64_t size, uint32_t stack, uint32_t kind)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane,
           trace_put_arena_alloc(p, &lane->coding, ticks, arena, address, size, 1, stack, kind));
}

void lane_arena_free(struct lane *lane, uint64_t ticks, uint32_t arena, uint64_t address)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane, trace_put_arena_free(p, &lane->coding, ticks, arena, address, false));
}

void lane_arena_collected(struct lane *lane, uint64_t ticks, uint32_t arena, uint64_t address)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane, trace_put_arena_free(p, &lane->coding, ticks, arena, address, true));
}

void lane_free_stack(struct lane *lane, uint64_t ticks, uint64_t address, uint32_t stack)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane, trace_put_free_stack(p, &lane->coding, ticks, address, stack));
}

void lane_realloc(struct lane *lane, uint64_t before, uint64_t after, uint64_t old_address,
                  uint64_t address, uint64_t size, uint32_t stack,
                  enum trace_realloc_outcome outcome)
{
    uint8_t *p = room(lane, TRACE_RECORD_MAX);
    commit(lane, trace_put_realloc(p, &lane->coding, before, after, old_address, address, size,
                                   stack, outcome, false));
}

void lane_payload(struct lane *lane, unsigned type, const uint8_t *payload, const uint8_t *end)
{
    uint8_t *p = room(lane, (size_t)(end - payload) + 12);
    commit(lane,
           trace_put_extended(p, (enum trace_extended)type, payload, (size_t)(end - payload)));
}

void lane_extended(struct lane *lane, unsigned type, const char *format, ...)
{
    uint8_t payload[TRACE_EXTENDED_MAX], *end = payload;
    va_list arguments;
    va_start(arguments, format);
    for (; *format != '\0'; format++) {
        if (*format == 's') {
            const char *text = va_arg(arguments, const char *);
            end = trace_put_string(end, text, strlen(text));
            continue;
        }
        uint64_t number = va_arg(arguments, uint64_t);
        if (*format == 'w')
            number -= lane->coding.ticks;
        end = trace_put_varint(end, number);
    }
    va_end(arguments);
    lane_payload(lane, type, payload, end);
}

void lane_switch(struct lane *lane, uint32_t thread, uint32_t sequence, uint64_t ticks)
{
    lane_extended(lane, TRACE_EXT_SWITCH, "nnn", (uint64_t)thread, (uint64_t)sequence, ticks);
    lane->thread = thread;
    lane->sequence = sequence;
    trace_coding_reset(&lane->coding, ticks);
}
