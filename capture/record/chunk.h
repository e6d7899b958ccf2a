/* SPDX-License-Identifier: BSD-2-Clause */
/* One open chunk, which takes the records of a thread.
 *
 * A thread's first chunk in a trace begins with one page on the disk and grows as it fills, since
 * many threads record little. Later chunks have all their bytes at once.
 *
 * Legal order: chunk_begin() on a zeroed struct or after chunk_leave(). Then, while
 * chunk_has_room(), records are put at `cursor` and published by chunk_commit(). A sealed chunk may
 * be written again after chunk_unseal(). One thread at a time uses a chunk. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/trace_codec.h"

struct chunk {
    uint8_t *cursor;
    /* A record of TRACE_RECORD_MAX bytes may begin before this address. NULL sends the next event
     * to the slow path, which sets the limit again. */
    uint8_t *limit;
    uint8_t *base; /* NULL: no chunk */
    struct trace_coding coding;
    /* The offset at which the next clock pair is due, or the size of a chunk if none is. `limit`
     * lies there until then. */
    uint32_t clock_due;
    uint32_t reserved; /* bytes of the slot that may be written */
    bool sealed;
};

/* Takes a new slot for `thread`. False if there is none, and `chunk` then has no chunk. */
bool chunk_begin(struct chunk *chunk, uint32_t thread, uint32_t sequence);
/* Makes more of the slot writable. False if all of it is, or there is no room. */
bool chunk_grow(struct chunk *chunk);
/* Gives the chunk its sum, by which a reader detects damage. */
void chunk_seal(struct chunk *chunk);
void chunk_unseal(struct chunk *chunk);
/* Seals and unmaps the chunk. */
void chunk_leave(struct chunk *chunk);
/* Unmaps the parent's chunk without a change. Called in a forked child. */
void chunk_forget(struct chunk *chunk);
/* Puts private memory in the place of the parent's chunk, so that nothing more reaches the parent's
 * trace. Called in a forked child that goes on inside a record. */
void chunk_detach(struct chunk *chunk);

static inline _Atomic uint32_t *chunk_attention(const struct chunk *chunk)
{
    return (_Atomic uint32_t *)&((struct trace_chunk_header *)chunk->base)->look;
}

/* Returns the number of bytes that can still be written. */
static inline size_t chunk_space(const struct chunk *chunk)
{
    return chunk->base ? (size_t)(chunk->base + chunk->reserved - chunk->cursor) : 0;
}

/* Returns true if there is room for a record. False also if another process asks this thread to
 * take the slow path: the word that says so lies beside `commit`, which each record writes. A chunk
 * with a limit has a base. */
static inline bool chunk_has_room(const struct chunk *chunk)
{
    return __builtin_expect(chunk->cursor < chunk->limit, 1) &&
           __builtin_expect(atomic_load_explicit(chunk_attention(chunk), memory_order_relaxed) == 0,
                            1);
}

/* Clears that word. The slow path calls it before it reads the request, so a later request sets the
 * word again. */
static inline void chunk_attention_taken(struct chunk *chunk)
{
    if (chunk->base && atomic_load_explicit(chunk_attention(chunk), memory_order_relaxed) != 0)
        atomic_exchange(chunk_attention(chunk), 0);
}

/* Sets `limit` again after it was cleared. */
static inline void chunk_open_limit(struct chunk *chunk)
{
    const uint32_t full = chunk->reserved - TRACE_RECORD_MAX + 1;
    uint32_t limit = chunk->clock_due < full ? chunk->clock_due : full;
    chunk->limit = chunk->base ? chunk->base + limit : NULL;
}

static inline bool chunk_clock_is_due(const struct chunk *chunk)
{
    return chunk->clock_due < TRACE_CHUNK_SIZE_DEFAULT &&
           chunk->cursor >= chunk->base + chunk->clock_due;
}

/* Sets when the next clock pair is due, after one is written: at four times the offset. */
static inline void chunk_clock_is_done(struct chunk *chunk)
{
    while (chunk_clock_is_due(chunk))
        chunk->clock_due *= 4;
}

/* Publishes the bytes up to `cursor`: from here on a SIGKILL does not lose them. */
static inline void chunk_commit(struct chunk *chunk, uint8_t *cursor)
{
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    chunk->cursor = cursor;
    atomic_store_explicit((_Atomic uint32_t *)&header->commit, (uint32_t)(cursor - chunk->base),
                          memory_order_release);
}
