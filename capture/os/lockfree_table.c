/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/lockfree_table.h"

#include <stddef.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"

#define FIRST_CAPACITY_LOG2 12u
/* From this size on large pages pay, because lookups hit places all over the table. */
#define LARGE_BYTES (UINT64_C(256) << 10)

/* Creates the slots. In a large table the entries start on a large page, and the fields before them
 * lie on the small page before that. */
static struct lockfree_slots *slots_create(unsigned capacity_log2)
{
    uint64_t capacity = UINT64_C(1) << capacity_log2;
    size_t size = capacity * sizeof(struct lockfree_entry);
    struct lockfree_entry *entries = size >= LARGE_BYTES ? os_map_large(&size) : NULL;
    struct lockfree_slots *slots;
    if (entries) {
        slots = (struct lockfree_slots *)((uint8_t *)entries - sizeof(*slots));
        slots->bytes = ARCH_PAGE_SIZE + size;
    } else {
        size += sizeof(*slots);
        slots = os_map(size);
        if (!slots)
            return NULL;
        slots->bytes = size;
    }
    slots->mask = capacity - 1;
    slots->shift = 64 - capacity_log2;
    return slots;
}

static void *slots_mapping(struct lockfree_slots *slots)
{
    return (void *)((uintptr_t)slots & ~(uintptr_t)(ARCH_PAGE_SIZE - 1));
}

/* Puts the pair into the entry if it is free or has the same key. Returns true if the pair is in
 * the table afterwards. Another thread that has the same key may still store over it. */
static bool entry_put(const struct lockfree_table *table, struct lockfree_slots *slots,
                      struct lockfree_entry *entry, uint64_t key, uint64_t value)
{
    uint64_t found = atomic_load_explicit(&entry->key, memory_order_acquire);
    if (!found && atomic_compare_exchange_strong(&entry->key, &found, key)) {
        atomic_store_explicit(&entry->value, value, memory_order_release);
        atomic_fetch_add_explicit(&slots->used, 1, memory_order_relaxed);
        return true;
    }
    if (found != key)
        return false;
    /* An empty value has been forgotten, or another thread is between its two stores. */
    uint64_t present = atomic_load_explicit(&entry->value, memory_order_acquire);
    return (!present && atomic_compare_exchange_strong(&entry->value, &present, value)) ||
           ((present ^ value) & table->identity) == 0;
}

/* Inserts the pair. Does nothing if all places are taken. */
static void slots_insert(const struct lockfree_table *table, struct lockfree_slots *slots,
                         uint64_t key, uint64_t value)
{
    uint64_t at = table->place(key, value) >> slots->shift;
    for (unsigned probe = 0; probe < LOCKFREE_TABLE_PROBES; probe++)
        if (entry_put(table, slots, &slots->entries[(at + probe) & slots->mask], key, value))
            return;
}

/* Fills a table that no other thread has seen yet. Pairs that others put into `from` are lost. */
static void slots_fill(const struct lockfree_table *table, struct lockfree_slots *to,
                       const struct lockfree_slots *from)
{
    uint64_t used = 0;
    for (uint64_t i = 0; i <= from->mask; i++) {
        uint64_t value = atomic_load_explicit(&from->entries[i].value, memory_order_acquire);
        uint64_t key = atomic_load_explicit(&from->entries[i].key, memory_order_acquire);
        if (!value || !key)
            continue;
        uint64_t at = table->place(key, value) >> to->shift;
        for (unsigned probe = 0; probe < LOCKFREE_TABLE_PROBES; probe++) {
            struct lockfree_entry *entry = &to->entries[(at + probe) & to->mask];
            if (atomic_load_explicit(&entry->key, memory_order_relaxed))
                continue;
            atomic_store_explicit(&entry->key, key, memory_order_relaxed);
            atomic_store_explicit(&entry->value, value, memory_order_relaxed);
            used++;
            break;
        }
    }
    atomic_store_explicit(&to->used, used, memory_order_relaxed);
}

static void slots_empty(struct lockfree_slots *slots)
{
    size_t header = ARCH_PAGE_SIZE; /* entries on the first page stay: their values are right */
    if (slots->bytes > header)
        os_discard((char *)slots_mapping(slots) + header, slots->bytes - header);
}

static void table_grow(struct lockfree_table *table, struct lockfree_slots *old)
{
    unsigned log2 = old ? 64 - old->shift + 1 : FIRST_CAPACITY_LOG2;
    struct lockfree_slots *slots = slots_create(log2);
    if (!slots)
        return;
    slots->older = old;
    if (old)
        slots_fill(table, slots, old);
    atomic_store_explicit(&table->slots, slots, memory_order_release);
    if (old)
        slots_empty(old);
}

static bool table_change_begin(struct lockfree_table *table)
{
    return atomic_exchange_explicit(&table->changing, 1, memory_order_acquire) == 0;
}

static void table_change_end(struct lockfree_table *table)
{
    atomic_store_explicit(&table->changing, 0, memory_order_release);
}

void lockfree_table_insert(struct lockfree_table *table, uint64_t key, uint64_t value)
{
    struct lockfree_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    bool full = !slots || atomic_load_explicit(&slots->used, memory_order_relaxed) >
                              (slots->mask + 1) / 10 * 7;
    if (full) {
        /* A handler that left by longjmp would leave the change unfinished for ever. */
        uint64_t signals = os_block_signals();
        if (table_change_begin(table)) {
            struct lockfree_slots *now = atomic_load_explicit(&table->slots, memory_order_acquire);
            if (now == slots)
                table_grow(table, now);
            slots = atomic_load_explicit(&table->slots, memory_order_acquire);
            table_change_end(table);
        }
        os_restore_signals(signals);
    }
    if (slots)
        slots_insert(table, slots, key, value);
}

void lockfree_table_forget(struct lockfree_table *table, uint64_t mask, uint64_t low, uint64_t high)
{
    uint64_t signals = os_block_signals();
    while (!table_change_begin(table))
        os_yield();
    struct lockfree_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    for (uint64_t i = 0; slots && i <= slots->mask; i++) {
        uint64_t key = atomic_load_explicit(&slots->entries[i].key, memory_order_relaxed);
        if ((key & mask) >= low && (key & mask) < high)
            atomic_store_explicit(&slots->entries[i].value, 0, memory_order_release);
    }
    table_change_end(table);
    os_restore_signals(signals);
}

void lockfree_table_reset(struct lockfree_table *table)
{
    struct lockfree_slots *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    atomic_store_explicit(&table->slots, NULL, memory_order_relaxed);
    atomic_store_explicit(&table->changing, 0, memory_order_relaxed);
    while (slots) {
        struct lockfree_slots *older = slots->older;
        os_unmap(slots_mapping(slots), slots->bytes);
        slots = older;
    }
}

uint64_t lockfree_table_bytes(const struct lockfree_table *table)
{
    const struct lockfree_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    return slots ? slots->bytes : 0;
}

uint64_t lockfree_table_used(const struct lockfree_table *table)
{
    const struct lockfree_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    return slots ? atomic_load_explicit(&slots->used, memory_order_relaxed) : 0;
}
