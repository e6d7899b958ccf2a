/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/chunk.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/clock.h"
#include "capture/os/os.h"
#include "capture/record/file.h"

/* Offset in a chunk of the first clock pair after the one of its header. */
#define CLOCK_FIRST_DUE 256u

bool chunk_begin(struct chunk *chunk, uint32_t thread, uint32_t sequence)
{
    uint32_t slot;
    chunk->limit = NULL;
    chunk->sealed = false;
    chunk->reserved = sequence == 0 ? ARCH_PAGE_SIZE : TRACE_CHUNK_SIZE_DEFAULT;
    chunk->base = trace_file_take_slot(&slot, &chunk->reserved);
    if (!chunk->base)
        return false;
    struct clock_pair base = clock_read_pair();
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    header->slot = slot;
    header->thread = thread;
    header->sequence = sequence;
    header->trace_id = trace_file_id();
    header->base_ticks = base.ticks;
    header->base_monotonic_ns = base.monotonic_ns;
    header->commit = TRACE_CHUNK_HEADER_SIZE;
    /* The sum covers the finished header. It includes the magic, which is stored last. */
    struct trace_chunk_header whole = *header;
    whole.magic = TRACE_CHUNK_MAGIC;
    header->header_sum =
        (uint32_t)trace_sum(&whole, offsetof(struct trace_chunk_header, header_sum));
    atomic_store_explicit((_Atomic uint32_t *)&header->magic, TRACE_CHUNK_MAGIC,
                          memory_order_release);
    trace_coding_reset(&chunk->coding, base.ticks);
    chunk->cursor = chunk->base + TRACE_CHUNK_HEADER_SIZE;
    chunk->clock_due = clock_is_tsc ? CLOCK_FIRST_DUE : TRACE_CHUNK_SIZE_DEFAULT;
    chunk_open_limit(chunk);
    return true;
}

bool chunk_grow(struct chunk *chunk)
{
    const uint32_t last = TRACE_CHUNK_SIZE_DEFAULT - ARCH_PAGE_SIZE;
    if (!chunk->base || chunk->reserved == TRACE_CHUNK_SIZE_DEFAULT)
        return false;
    /* The last page is reserved from the beginning. */
    const uint32_t twice = 2 * chunk->reserved;
    const uint32_t to = twice < last ? twice : TRACE_CHUNK_SIZE_DEFAULT;
    const uint32_t slot = ((const struct trace_chunk_header *)chunk->base)->slot;
    if (!trace_file_grow_slot(chunk->base, slot, chunk->reserved, to))
        return false;
    chunk->reserved = to;
    return true;
}

void chunk_seal(struct chunk *chunk)
{
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    if (!header || chunk->sealed)
        return;
    /* The sum does not reach to the cursor: a signal handler may have left by longjmp after the
     * cursor moved and before the commit. After chunk_detach() nothing is committed. */
    const uint32_t committed = header->commit;
    if (committed >= TRACE_CHUNK_HEADER_SIZE)
        header->sum =
            trace_sum(chunk->base + TRACE_CHUNK_HEADER_SIZE, committed - TRACE_CHUNK_HEADER_SIZE);
    atomic_store_explicit((_Atomic uint32_t *)&header->flags, TRACE_CHUNK_SEALED,
                          memory_order_release);
    chunk->sealed = true;
    chunk->limit = NULL;
}

void chunk_unseal(struct chunk *chunk)
{
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    if (!header || !chunk->sealed)
        return;
    atomic_store((_Atomic uint32_t *)&header->flags, 0);
    chunk->sealed = false;
    chunk_open_limit(chunk);
}

void chunk_leave(struct chunk *chunk)
{
    if (!chunk->base)
        return;
    chunk_seal(chunk);
    /* From here on another process may pack the chunk and free its space. */
    atomic_store_explicit((_Atomic uint32_t *)&((struct trace_chunk_header *)chunk->base)->flags,
                          TRACE_CHUNK_SEALED | TRACE_CHUNK_LEFT, memory_order_release);
    chunk_forget(chunk);
}

void chunk_forget(struct chunk *chunk)
{
    if (chunk->base)
        trace_file_release_slot(chunk->base);
    chunk->base = chunk->cursor = chunk->limit = NULL;
    chunk->sealed = false;
}

void chunk_detach(struct chunk *chunk)
{
    if (chunk->base)
        os_call(SYS_mmap, (long)chunk->base, TRACE_CHUNK_SIZE_DEFAULT, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
