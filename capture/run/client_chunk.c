/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/client_chunk.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "capture/os/clock.h"
#include "capture/run/sandbox.h"
#include "schemas/trace_codec.h"

/* The bytes before a payload: kind, type and length. */
#define RECORD_HEAD_MAX 16u
#define PAGE 4096u
#define LAST_PAGE (TRACE_CHUNK_SIZE_DEFAULT - PAGE)

uint64_t client_slot_offset(const struct client *client, uint32_t number)
{
    return TRACE_FILE_HEADER_SIZE + (uint64_t)number * client->header->chunk_size;
}

bool client_free_space(const struct client *client, uint64_t offset, uint64_t size)
{
    if (!run_sandbox_allows(SYS_fallocate) ||
        fallocate(client->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                  (off_t)size) != 0)
        return false;
    atomic_fetch_add((_Atomic uint64_t *)&client->header->freed_bytes, size);
    return true;
}

/* Reserves space in the file. Asks for the limit first, since the kernel would send SIGXFSZ beyond
 * it. */
static bool reserve_bytes(const struct client *client, uint64_t offset, uint32_t size)
{
    struct rlimit limit;
    return run_sandbox_allows(SYS_fallocate) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || offset + size <= limit.rlim_cur) &&
           fallocate(client->descriptor, 0, (off_t)offset, size) == 0;
}

bool client_chunk_begin(struct client_chunk *chunk, const struct client *client, uint32_t thread,
                        uint32_t sequence)
{
    struct trace_file_header *file = client->header;
    *chunk = (struct client_chunk){.base = NULL};
    if (file->chunk_size != TRACE_CHUNK_SIZE_DEFAULT)
        return false;
    chunk->slot = atomic_fetch_add((_Atomic uint32_t *)&file->next_slot, 1);
    uint64_t offset = client_slot_offset(client, chunk->slot);
    /* The last page first: then the file never ends within a slot, where the recorder might
     * append. */
    if (!reserve_bytes(client, offset + LAST_PAGE, PAGE) || !reserve_bytes(client, offset, PAGE))
        return false;
    void *memory = mmap(NULL, TRACE_CHUNK_SIZE_DEFAULT, PROT_READ | PROT_WRITE, MAP_SHARED,
                        client->descriptor, (off_t)offset);
    if (memory == MAP_FAILED)
        return false;
    _Atomic uint32_t *count = (_Atomic uint32_t *)&file->chunk_count;
    uint32_t seen = atomic_load(count);
    while (seen < chunk->slot + 1 && !atomic_compare_exchange_weak(count, &seen, chunk->slot + 1))
        ;
    atomic_fetch_add((_Atomic uint64_t *)&file->freed_bytes, LAST_PAGE - PAGE);
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
    chunk->reserved = PAGE;
    chunk->ticks = now.ticks;
    return true;
}

bool client_chunk_reserve(struct client_chunk *chunk, const struct client *client, size_t length)
{
    _Atomic uint64_t *freed = (_Atomic uint64_t *)&client->header->freed_bytes;
    const size_t end = chunk->used + RECORD_HEAD_MAX + length;
    if (!chunk->base || end > TRACE_CHUNK_SIZE_DEFAULT)
        return false;
    if (end <= chunk->reserved || chunk->reserved == LAST_PAGE)
        return true;
    const uint32_t to = end < LAST_PAGE ? (uint32_t)(end + PAGE - 1) / PAGE * PAGE : LAST_PAGE;
    const uint32_t more = to - chunk->reserved;
    atomic_fetch_sub(freed, more);
    if (!reserve_bytes(client, client_slot_offset(client, chunk->slot) + chunk->reserved, more)) {
        atomic_fetch_add(freed, more);
        return false;
    }
    chunk->reserved = to;
    return true;
}

void client_chunk_put(struct client_chunk *chunk, enum trace_extended type, const uint8_t *payload,
                      size_t length)
{
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    uint8_t *end = trace_put_extended(chunk->base + chunk->used, type, payload, length);
    chunk->used = (uint32_t)(end - chunk->base);
    atomic_store_explicit((_Atomic uint32_t *)&header->commit, chunk->used, memory_order_release);
}

void client_chunk_leave(struct client_chunk *chunk)
{
    if (!chunk->base)
        return;
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    header->sum =
        trace_sum(chunk->base + TRACE_CHUNK_HEADER_SIZE, chunk->used - TRACE_CHUNK_HEADER_SIZE);
    atomic_store_explicit((_Atomic uint32_t *)&header->flags, TRACE_CHUNK_SEALED | TRACE_CHUNK_LEFT,
                          memory_order_release);
    munmap(chunk->base, TRACE_CHUNK_SIZE_DEFAULT);
    chunk->base = NULL;
}
