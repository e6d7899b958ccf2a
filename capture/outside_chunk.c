#include "capture/outside_chunk.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "capture/clock.h"
#include "capture/run_sandbox.h"
#include "schemas/trace_codec.h"

/* Kind, type and length before a payload. */
#define RECORD_HEAD_MAX 16u
#define PAGE 4096u

uint64_t outside_slot_offset(const struct outside *outside, uint32_t number)
{
    return TRACE_FILE_HEADER_SIZE + (uint64_t)number * outside->header->chunk_size;
}

bool outside_free_space(const struct outside *outside, uint64_t offset, uint64_t size)
{
    if (!run_sandbox_allows(SYS_fallocate) ||
        fallocate(outside->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                  (off_t)size) != 0)
        return false;
    atomic_fetch_add((_Atomic uint64_t *)&outside->header->freed_bytes, size);
    return true;
}

/* The kernel would send SIGXFSZ for what goes beyond, so it is asked first. */
static bool chunk_reserve(const struct outside *outside, uint64_t offset)
{
    const uint32_t size = outside->header->chunk_size;
    struct rlimit limit;
    return run_sandbox_allows(SYS_fallocate) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || offset + size <= limit.rlim_cur) &&
           fallocate(outside->descriptor, 0, (off_t)offset, size) == 0;
}

bool outside_chunk_begin(struct outside_chunk *chunk, const struct outside *outside,
                         uint32_t thread, uint32_t sequence)
{
    struct trace_file_header *file = outside->header;
    *chunk = (struct outside_chunk){.base = NULL};
    if (file->chunk_size != TRACE_CHUNK_SIZE_DEFAULT)
        return false;
    chunk->slot = atomic_fetch_add((_Atomic uint32_t *)&file->next_slot, 1);
    uint64_t offset = outside_slot_offset(outside, chunk->slot);
    if (!chunk_reserve(outside, offset))
        return false;
    void *memory = mmap(NULL, TRACE_CHUNK_SIZE_DEFAULT, PROT_READ | PROT_WRITE, MAP_SHARED,
                        outside->descriptor, (off_t)offset);
    if (memory == MAP_FAILED)
        return false;
    _Atomic uint32_t *count = (_Atomic uint32_t *)&file->chunk_count;
    uint32_t seen = atomic_load(count);
    while (seen < chunk->slot + 1 && !atomic_compare_exchange_weak(count, &seen, chunk->slot + 1))
        ;
    clock_is_tsc = file->clock == TRACE_CLOCK_TSC;
    struct clock_pair now = clock_read_pair();
    struct trace_chunk_header *header = memory, whole = {.magic = TRACE_CHUNK_MAGIC,
                                                         .slot = chunk->slot,
                                                         .thread = thread,
                                                         .sequence = sequence,
                                                         .trace_id = file->trace_id,
                                                         .base_ticks = now.ticks,
                                                         .base_monotonic_ns = now.monotonic_ns,
                                                         .commit = TRACE_CHUNK_HEADER_SIZE};
    whole.header_sum = (uint32_t)trace_sum(&whole, offsetof(struct trace_chunk_header, header_sum));
    *header = whole;
    atomic_thread_fence(memory_order_release);
    chunk->base = memory;
    chunk->used = TRACE_CHUNK_HEADER_SIZE;
    chunk->ticks = now.ticks;
    return true;
}

size_t outside_chunk_space(const struct outside_chunk *chunk)
{
    const uint32_t most = TRACE_CHUNK_SIZE_DEFAULT - RECORD_HEAD_MAX;
    return chunk->base && chunk->used < most ? most - chunk->used : 0;
}

void outside_chunk_put(struct outside_chunk *chunk, enum trace_extended type,
                       const uint8_t *payload, size_t length)
{
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    uint8_t *end = trace_put_extended(chunk->base + chunk->used, type, payload, length);
    chunk->used = (uint32_t)(end - chunk->base);
    atomic_store_explicit((_Atomic uint32_t *)&header->commit, chunk->used, memory_order_release);
}

void outside_chunk_leave(struct outside_chunk *chunk, const struct outside *outside)
{
    if (!chunk->base)
        return;
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    const uint32_t used = (chunk->used + PAGE - 1) / PAGE * PAGE;
    header->sum =
        trace_sum(chunk->base + TRACE_CHUNK_HEADER_SIZE, chunk->used - TRACE_CHUNK_HEADER_SIZE);
    atomic_store_explicit((_Atomic uint32_t *)&header->flags, TRACE_CHUNK_SEALED | TRACE_CHUNK_LEFT,
                          memory_order_release);
    munmap(chunk->base, TRACE_CHUNK_SIZE_DEFAULT);
    /* Chunks of pages that nobody writes cost the disk nothing; where this cannot be, they stay. */
    if (used < TRACE_CHUNK_SIZE_DEFAULT)
        (void)outside_free_space(outside, outside_slot_offset(outside, chunk->slot) + used,
                                 TRACE_CHUNK_SIZE_DEFAULT - used);
    chunk->base = NULL;
}
