/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/sampling.h"

#include <stdlib.h>

#include "capture/os/clock.h"
#include "capture/os/os.h"

uint64_t sample_mean;
static uint64_t sample_seed; /* 0: threads seed themselves by time and number */

#define LN2_Q32 UINT64_C(0xb17217f8)

/* Steele, Lea and Flood's SplitMix64 (OOPSLA 2014): one addition and a mix of the bits. */
static uint64_t sample_random(struct sample *sample)
{
    uint64_t z = sample->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z ? z : 1;
}

/* Reads a number from the environment; options.c says why not with strtoul. */
static uint64_t sample_read_seed(void)
{
    const char *text = secure_getenv("MPROF_TEST_SEED");
    uint64_t seed = 0;
    while (text && *text >= '0' && *text <= '9')
        seed = seed * 10 + (uint64_t)(*text++ - '0');
    return seed;
}

void sample_init(uint64_t mean)
{
    sample_mean = mean;
    sample_seed = sample_read_seed();
}

/* Returns the logarithm to base 2 with 32 binary digits after the point. Each step finds one digit:
 * squaring a mantissa in [1, 2) doubles its logarithm. It is slow (a hundred cycles) and rarely
 * needed. It uses no floating point, because the flags of that belong to the program. */
static uint64_t sample_log2(uint64_t number)
{
    const unsigned zeros = (unsigned)__builtin_clzl(number);
    uint64_t mantissa = number << zeros, fraction = 0;
    for (unsigned digit = 0; digit < 32; digit++) {
        unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
        uint64_t high = (uint64_t)(square >> 64);
        bool two = high >> 63;
        mantissa = two ? high : (uint64_t)(square >> 63);
        fraction = fraction << 1 | two;
    }
    return (uint64_t)(63 - zeros) << 32 | fraction;
}

uint64_t sample_distance(uint64_t random, uint64_t mean)
{
    uint64_t log2 = (UINT64_C(64) << 32) - sample_log2(random); /* of 2^64 / random */
    return (uint64_t)((unsigned __int128)mean * log2 * LN2_Q32 >> 64);
}

static void set_left(struct sample *sample, uint64_t left)
{
    atomic_store_explicit(&sample->left, left, memory_order_relaxed);
}

bool sample_takes_slow(struct sample *sample, uint64_t size)
{
    if (!sample->random) {
        uint64_t thread = (uint64_t)os_thread_id();
        sample->random = sample_seed ? sample_seed : clock_before() ^ thread << 40;
        set_left(sample, sample_distance(sample_random(sample), sample_mean));
        if (sample_skips(sample, size))
            return false;
    }
    set_left(sample, sample_distance(sample_random(sample), sample_mean));
    return true;
}

/* Keeps each live block that a sample took, so that another trace can begin with them.
 *
 * All threads use the pool at once without a lock. An entry belongs to the thread that works on its
 * block. live_blocks_next() needs that no other thread does. */

struct place {
    struct live_block block;
    _Atomic uint32_t next_free;
};

/* Places lie in pieces, which are mapped when they are first used. */
#define LIVE_PIECE 1024u
#define LIVE_PIECES (SAMPLED_BLOCKS_SLOTS / LIVE_PIECE + 1)

static struct {
    _Atomic(void *) pieces[LIVE_PIECES]; /* number 0 is not used */
    _Atomic uint32_t used;               /* numbers given out so far */
    _Atomic uint64_t free; /* low half: the first free number; high half: a tag against reuse */
} pool;

/* Returns the place of a number that was given out. NULL: its piece is not mapped yet. */
static struct place *place_of(uint32_t number)
{
    struct place *piece =
        atomic_load_explicit(&pool.pieces[number / LIVE_PIECE], memory_order_acquire);
    return piece ? &piece[number % LIVE_PIECE] : NULL;
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

/* Adds a block. Returns its number, 0 if there is no room. */
static uint32_t live_blocks_add(const struct live_block *block)
{
    uint32_t number = pop_free();
    if (number == 0) {
        if (atomic_load(&pool.used) >= SAMPLED_BLOCKS_SLOTS)
            return 0;
        number = atomic_fetch_add(&pool.used, 1) + 1;
        if (number > SAMPLED_BLOCKS_SLOTS) {
            atomic_fetch_sub(&pool.used, 1);
            return 0;
        }
    }
    if (!os_map_once(&pool.pieces[number / LIVE_PIECE], LIVE_PIECE * sizeof(struct place)))
        return 0; /* the number is never used */
    place_of(number)->block = *block;
    return number;
}

static void live_blocks_remove(uint32_t number)
{
    uint64_t head = atomic_load(&pool.free), next;
    place_of(number)->block.address = 0;
    do {
        atomic_store(&place_of(number)->next_free, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | number;
    } while (!atomic_compare_exchange_weak(&pool.free, &head, next));
}

/* Returns the block of a number that was added and not removed. */
static struct live_block *live_blocks_get(uint32_t number)
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

/* Forgets all. No other thread may be inside an event. */
static void live_blocks_reset(void)
{
    for (uint32_t i = 0; i < LIVE_PIECES; i++)
        if (pool.pieces[i])
            os_discard(pool.pieces[i], LIVE_PIECE * sizeof(struct place));
    atomic_store(&pool.used, 0);
    atomic_store(&pool.free, 0);
}

#define BUCKET 16u
#define BUCKETS (SAMPLED_BLOCKS_SLOTS / BUCKET)
#define FILTER_FULL 255u
#define PIECE 65536u /* slots */
#define PIECES (SAMPLED_BLOCKS_SLOTS / PIECE)
#define SLOTS_SIZE (PIECE * sizeof(_Atomic uint64_t))
#define NOTES_SIZE (PIECE * sizeof(_Atomic uint32_t))

_Atomic uint8_t sampled_blocks_filter[SAMPLED_BLOCKS_FILTER];
/* The slots, and for each slot the number of its live block (0: none yet). Both lie in pieces,
 * which are mapped when they are first used. */
static _Atomic(void *) slot_pieces[PIECES], note_pieces[PIECES];
static _Atomic uint32_t *buckets; /* for each hash the number of its bucket, 0: none yet */
static _Atomic uint32_t buckets_used;

bool sampled_blocks_init(void)
{
    buckets = os_map(BUCKETS * sizeof(*buckets));
    return buckets != NULL;
}

/* Returns a slot of a bucket that has been begun. */
static _Atomic uint64_t *slot_at(uint64_t slot)
{
    _Atomic uint64_t *piece =
        atomic_load_explicit(&slot_pieces[slot / PIECE], memory_order_relaxed);
    return &piece[slot % PIECE];
}

/* Gives a hash its bucket. Returns the bucket's number, 0 if there is none left. If two threads do
 * so for one hash at the same time, one bucket is never used. */
static uint32_t begin_bucket(_Atomic uint32_t *of_hash)
{
    const uint32_t number = atomic_fetch_add(&buckets_used, 1) + 1;
    uint32_t none = 0;
    if (number > BUCKETS ||
        !os_map_once(&slot_pieces[(uint64_t)(number - 1) * BUCKET / PIECE], SLOTS_SIZE)) {
        atomic_fetch_sub(&buckets_used, 1);
        return atomic_load(of_hash);
    }
    return atomic_compare_exchange_strong(of_hash, &none, number) ? number : none;
}

/* Returns the number of the bucket that is the address's place 0 or 1. If it has not been used
 * before, returns 0, or begins it. */
static uint32_t blocks_bucket(uint64_t address, unsigned place, bool begin)
{
    uint64_t hash =
        (place ? address ^ UINT64_C(0xd6e8feb86659fd93) : address) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
    hash *= UINT64_C(0xc2b2ae3d27d4eb4f);
    _Atomic uint32_t *of_hash = &buckets[(hash >> 40) % BUCKETS];
    uint32_t number = atomic_load_explicit(of_hash, memory_order_relaxed);
    if (number == 0 && begin)
        number = begin_bucket(of_hash);
    return number;
}

#define NO_SLOT UINT64_MAX

/* Returns the number of the slot that holds `content`. A free slot (0) may be one of a new bucket.
 */
static uint64_t blocks_slot(uint64_t address, uint64_t content)
{
    for (unsigned place = 0; place < 2; place++) {
        const uint32_t number = blocks_bucket(address, place, content == 0);
        const uint64_t first = (uint64_t)(number - 1) * BUCKET;
        const _Atomic uint64_t *bucket = number ? slot_at(first) : NULL;
        for (unsigned i = 0; bucket && i < BUCKET; i++)
            if (atomic_load_explicit(&bucket[i], memory_order_relaxed) == content)
                return first + i;
    }
    return NO_SLOT;
}

static void blocks_count(uint64_t address, bool more)
{
    _Atomic uint8_t *count = &sampled_blocks_filter[sampled_blocks_place(address)];
    uint8_t seen = atomic_load(count), next;
    do {
        if (seen == FILTER_FULL || (!more && seen == 0))
            return;
        next = (uint8_t)(more ? seen + 1 : seen - 1);
    } while (!atomic_compare_exchange_weak(count, &seen, next));
}

bool sampled_blocks_add(uint64_t address)
{
    /* The address is already there if its free was not seen. */
    if (blocks_slot(address, address) != NO_SLOT)
        return true;
    uint64_t slot;
    while ((slot = blocks_slot(address, 0)) != NO_SLOT) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(slot_at(slot), &none, address)) {
            blocks_count(address, true);
            return true;
        }
    }
    return false;
}

bool sampled_blocks_has(uint64_t address)
{
    return blocks_slot(address, address) != NO_SLOT;
}

/* Forgets what is known of the block in a slot. */
static void drop_note(uint64_t slot)
{
    _Atomic uint32_t *notes = atomic_load(&note_pieces[slot / PIECE]);
    const uint32_t number = notes ? atomic_exchange(&notes[slot % PIECE], 0) : 0;
    if (number)
        live_blocks_remove(number);
}

void sampled_blocks_describe(uint64_t key, const struct live_block *block)
{
    const uint64_t slot = blocks_slot(key, key);
    _Atomic uint32_t *notes =
        slot == NO_SLOT ? NULL : os_map_once(&note_pieces[slot / PIECE], NOTES_SIZE);
    if (!notes)
        return;
    drop_note(slot);
    atomic_store(&notes[slot % PIECE], live_blocks_add(block));
}

/* Returns what is known of a block. NULL: nothing is. */
static struct live_block *find_note(uint64_t key)
{
    /* Most blocks were not taken. */
    const uint64_t slot = sampled_blocks_may_have(key) ? blocks_slot(key, key) : NO_SLOT;
    _Atomic uint32_t *notes = slot == NO_SLOT ? NULL : atomic_load(&note_pieces[slot / PIECE]);
    const uint32_t number = notes ? atomic_load(&notes[slot % PIECE]) : 0;
    return number ? live_blocks_get(number) : NULL;
}

bool sampled_blocks_known(uint64_t key, struct live_block *block)
{
    const struct live_block *known = find_note(key);
    if (known)
        *block = *known;
    return known != NULL;
}

void sampled_blocks_tell(uint64_t key, const struct told_type *type)
{
    struct live_block *known = find_note(key);
    if (known)
        known->told = *type;
}

bool sampled_blocks_remove_slow(uint64_t address)
{
    const uint64_t slot = blocks_slot(address, address);
    if (slot == NO_SLOT)
        return false;
    drop_note(slot);
    atomic_store(slot_at(slot), 0);
    blocks_count(address, false);
    return true;
}

void sampled_blocks_remove_all(uint64_t mask, uint64_t same)
{
    const uint64_t slots = (uint64_t)atomic_load(&buckets_used) * BUCKET;
    for (uint64_t i = 0; i < slots && i < SAMPLED_BLOCKS_SLOTS; i++) {
        if (!atomic_load(&slot_pieces[i / PIECE])) /* a thread is about to map it */
            continue;
        uint64_t address = atomic_load_explicit(slot_at(i), memory_order_relaxed);
        if (address == 0 || (address & mask) != same)
            continue;
        drop_note(i);
        if (atomic_compare_exchange_strong(slot_at(i), &address, 0))
            blocks_count(address, false);
    }
}

void sampled_blocks_reset(void)
{
    for (unsigned i = 0; i < PIECES; i++) {
        if (slot_pieces[i])
            os_discard(slot_pieces[i], SLOTS_SIZE);
        if (note_pieces[i])
            os_discard(note_pieces[i], NOTES_SIZE);
    }
    os_discard(buckets, BUCKETS * sizeof(*buckets));
    atomic_store(&buckets_used, 0);
    live_blocks_reset();
    for (unsigned i = 0; i < SAMPLED_BLOCKS_FILTER; i++)
        atomic_store_explicit(&sampled_blocks_filter[i], 0, memory_order_relaxed);
}
