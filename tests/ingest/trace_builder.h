/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes traces for tests and benchmarks, byte by byte as schemas/trace-format.md describes them.
 *
 * Order of calls: trace_builder_new(); lanes with lane_begin(); records; trace_builder_save();
 * trace_builder_free(). A lane is one thread's run of chunks. When a chunk is full, the next one
 * begins by itself. Failures (memory, disk) end the test program.
 */
#ifndef MPROF_TESTS_INGEST_TRACE_BUILDER_H
#define MPROF_TESTS_INGEST_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/trace_codec.h"

struct trace_builder {
    struct trace_file_header header;
    uint8_t *bytes; /* the file */
    size_t length, capacity;
};

struct lane {
    struct trace_builder *builder;
    struct trace_coding coding;
    uint32_t slot, thread, sequence;
    size_t used; /* bytes of the present chunk, with its header */
};

/*
 * Clock pair n of a built trace is `ticks` as nanoseconds, or 2 ticks per nanosecond for the TSC.
 */
struct trace_builder *trace_builder_new(uint32_t chunk_size, enum trace_clock clock);
void trace_builder_free(struct trace_builder *builder);

/*
 * Sets the end pair and the state, and sums the header. Call it before save; you may call it again.
 */
void trace_builder_end(struct trace_builder *builder, enum trace_state state, uint64_t end_ticks);
void trace_builder_save(const struct trace_builder *builder, const char *path);

/* Adds a slot that was handed out and never begun. */
void trace_builder_unused_slot(struct trace_builder *builder);

void lane_begin(struct lane *lane, struct trace_builder *builder, uint32_t thread,
                uint64_t base_ticks);
/* Seals the present chunk. */
void lane_seal(struct lane *lane);

void lane_node(struct lane *lane, uint32_t id, uint32_t parent, enum trace_node_frame frame,
               uint32_t module, uint64_t value);
void lane_alloc(struct lane *lane, uint64_t ticks, uint64_t address, uint64_t size, uint32_t stack);
void lane_alloc_kind(struct lane *lane, uint64_t ticks, uint64_t address, uint64_t size,
                     uint32_t stack, enum trace_alloc_kind kind, unsigned log2_alignment);
void lane_free(struct lane *lane, uint64_t ticks, uint64_t address);
/* These write the short forms. */
void lane_arena_alloc(struct lane *lane, uint64_t ticks, uint32_t arena, uint64_t address,
                      uint64_t size, uint64_t count, uint32_t stack);
/* The same with a kind of a runtime, > 0. */
void lane_arena_kind(struct lane *lane, uint64_t ticks, uint32_t arena, uint64_t address,
                     uint64_t size, uint32_t stack, uint32_t kind);
void lane_arena_free(struct lane *lane, uint64_t ticks, uint32_t arena, uint64_t address);
void lane_arena_collected(struct lane *lane, uint64_t ticks, uint32_t arena, uint64_t address);
void lane_free_stack(struct lane *lane, uint64_t ticks, uint64_t address, uint32_t stack);
void lane_realloc(struct lane *lane, uint64_t before, uint64_t after, uint64_t old_address,
                  uint64_t address, uint64_t size, uint32_t stack,
                  enum trace_realloc_outcome outcome);
/*
 * Writes an extended record by a format: 'n' is a varint (uint64_t), 's' a string (const char *),
 * 'w' a time in absolute ticks (uint64_t), written in the form that the coding state needs.
 */
void lane_extended(struct lane *lane, unsigned type, const char *format, ...);
/* Writes an extended record whose payload lies from `payload` to `end`. */
void lane_payload(struct lane *lane, unsigned type, const uint8_t *payload, const uint8_t *end);
/* Continues as another thread in the same chunk. */
void lane_switch(struct lane *lane, uint32_t thread, uint32_t sequence, uint64_t ticks);

#endif
