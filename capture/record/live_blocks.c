/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/live_blocks.h"

#include <stdatomic.h>
#include <stddef.h>

#include "capture/os/os.h"

struct place {
    struct live_block block;
    _Atomic uint32_t next_free;
};

/* Places lie in pieces, which are mapped when they are first used. */
#define PIECE 1024u
#define PIECES ((1u << 21) / PIECE + 1)

static struct {
    _Atomic(void *) pieces[PIECES]; /* number 0 is not used */
    uint32_t most;
    _Atomic uint32_t used; /* numbers given out so far */
    _Atomic uint64_t free; /* low half: the first free number; high half: a tag against reuse */
} pool;

bool live_blocks_init(uint32_t most)
{
    pool.most = most;
    return most < PIECES * PIECE;
}

/* Returns the place of a number that was given out. NULL: its piece is not mapped yet. */
static struct place *place_of(uint32_t number)
{
    struct place *piece = atomic_load_explicit(&pool.pieces[number / PIECE], memory_order_acquire);
    return piece ? &piece[number % PIECE] : NULL;
}

static uint32_t pop_free(void)
{
    uint64_t head = atomic_load(&pool.free), next;
    do {
        if ((uint32_t)head == 0)
            return 0;
        next = ((head >> 32) + 1) << 32 | atomic_load(&place_of((uint32_t)head)->next_free);
    } while (!atomic_compare_exchange_weak(&pool.free, &head, next));
    return (uint32_t)head;
}

uint32_t live_blocks_add(const struct live_block *block)
{
    uint32_t number = pop_free();
    if (number == 0) {
        if (atomic_load(&pool.used) >= pool.most)
            return 0;
        number = atomic_fetch_add(&pool.used, 1) + 1;
        if (number > pool.most) {
            atomic_fetch_sub(&pool.used, 1);
            return 0;
        }
    }
    if (!os_map_once(&pool.pieces[number / PIECE], PIECE * sizeof(struct place)))
        return 0; /* the number is never used */
    place_of(number)->block = *block;
    return number;
}

void live_blocks_remove(uint32_t number)
{
    uint64_t head = atomic_load(&pool.free), next;
    place_of(number)->block.address = 0;
    do {
        atomic_store(&place_of(number)->next_free, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | number;
    } while (!atomic_compare_exchange_weak(&pool.free, &head, next));
}

struct live_block *live_blocks_get(uint32_t number)
{
    return &place_of(number)->block;
}

struct live_block *live_blocks_next(uint32_t *at)
{
    while (*at < atomic_load(&pool.used)) {
        struct place *place = place_of(++*at);
        if (place && place->block.address)
            return &place->block;
    }
    return NULL;
}

void live_blocks_reset(void)
{
    for (uint32_t i = 0; i < PIECES; i++)
        if (pool.pieces[i])
            os_discard(pool.pieces[i], PIECE * sizeof(struct place));
    atomic_store(&pool.used, 0);
    atomic_store(&pool.free, 0);
}
