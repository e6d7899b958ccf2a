/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table that all threads read and fill without a lock.
 *
 * Entries are two words, a key (not 0) and a value (not 0), in open addressing. Some bits of the
 * value may be part of what is looked up (the table's identity), so one key can have several
 * entries. The caller chooses the place of an entry, whose high bits count. The place is a hash of
 * anything that can be found again from the entry.
 * Entries are only added, except by lockfree_table_forget(). If two threads do the same at once,
 * work is lost, but never correctness. A caller may find nothing although another thread has just
 * inserted, and may insert in vain.
 *
 * To grow, the table is copied into one twice as large. The pages of the old one are dropped, but
 * its mapping stays, so a thread that still reads it finds it empty. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct lockfree_entry {
    _Atomic uint64_t key, value;
};

struct lockfree_slots {
    uint64_t mask;
    uint32_t shift; /* from a place to an index */
    uint64_t bytes; /* of the mapping */
    _Atomic uint64_t used;
    struct lockfree_slots *older; /* emptied, still mapped */
    _Alignas(64) struct lockfree_entry entries[];
};

struct lockfree_table {
    struct lockfree_slots *_Atomic slots; /* NULL until the first insertion */
    _Atomic uint32_t changing;            /* a thread grows or sweeps the table */
    uint64_t identity;                    /* bits of the value that are looked up with the key */
    uint64_t (*place)(uint64_t key, uint64_t value);
};

/* The largest distance of an entry from its place. Entries that lie close together reach further,
 * the larger the table is: seven tenths full, one of 2^26 has runs of about 320. A pair without a
 * place would be made again by each that looks for it. */
#define LOCKFREE_TABLE_PROBES 512u

/* Prefetches the cache line at `place`. */
static inline void lockfree_table_prefetch(const struct lockfree_table *table, uint64_t place)
{
    const struct lockfree_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    if (slots)
        __builtin_prefetch(&slots->entries[place >> slots->shift]);
}

/* Returns the value under `key` whose bits under `identity` (the table's, as a constant) equal
 * those of `bits`, or 0. */
static inline uint64_t lockfree_table_find(const struct lockfree_table *table, uint64_t place,
                                           uint64_t key, uint64_t bits, uint64_t identity)
{
    const struct lockfree_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    if (!slots)
        return 0;
    uint64_t at = place >> slots->shift;
    for (unsigned probe = 0; probe < LOCKFREE_TABLE_PROBES; probe++) {
        const struct lockfree_entry *entry = &slots->entries[(at + probe) & slots->mask];
        uint64_t found = atomic_load_explicit(&entry->key, memory_order_acquire);
        if (found == key) {
            uint64_t value = atomic_load_explicit(&entry->value, memory_order_acquire);
            if (value && ((value ^ bits) & identity) == 0)
                return value;
        } else if (!found)
            return 0;
    }
    return 0;
}

/* Puts `value` in, and grows the table when needed. May do nothing if there is no memory. */
void lockfree_table_insert(struct lockfree_table *table, uint64_t key, uint64_t value);

/* Forgets all entries with low <= (key & mask) < high. Entries inserted during this may survive. */
void lockfree_table_forget(struct lockfree_table *table, uint64_t mask, uint64_t low,
                           uint64_t high);

/* Forgets everything and gives the memory back. No other thread may use the table. */
void lockfree_table_reset(struct lockfree_table *table);

/* Ends a change, in a forked child, whose thread does not exist there. */
static inline void lockfree_table_recover(struct lockfree_table *table)
{
    atomic_store_explicit(&table->changing, 0, memory_order_relaxed);
}

/* Returns the bytes that are mapped and may be touched. Emptied tables are not counted. */
uint64_t lockfree_table_bytes(const struct lockfree_table *table);
uint64_t lockfree_table_used(const struct lockfree_table *table);
