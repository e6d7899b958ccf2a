/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of live blocks, while it grows in each of its ways; and ledgers of pages that look up
 * what has changed since the last one, compared with ledgers that read all blocks.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/replay/live_table.h"
#include "ingest/replay/residency.h"
#include "schemas/trace_codec.h"

static uint64_t random_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 20;
}

static struct live_block *begin(struct live_table *table, uint64_t address, uint64_t order)
{
    struct live_block *block = live_table_find(table, address);
    assert_non_null(block);
    live_table_claim(table, block);
    block->address = address;
    block->order = order;
    return block;
}

static void finds_each_block(void **state)
{
    enum { BLOCKS = 400000, FREED = BLOCKS / 64, OLD = BLOCKS / 4, COLD_BYTES = 16 };
    struct live_table table = {.hot_most = 60000};
    const struct live_block *block;
    size_t count = 0;
    for (uint64_t i = 1; i <= BLOCKS; i++) {
        begin(&table, i * 32, i);
        if (i % 64 == 0)
            live_table_release(&table, live_table_find(&table, i / 64 * 32));
    }
    assert_int_equal(table.live, BLOCKS - FREED);
    /* The older ones are packed. */
    assert_int_equal(table.capacity, 65536);
    assert_true(live_table_bytes(&table) <
                table.capacity * sizeof(struct live_block) + BLOCKS * COLD_BYTES);
    for (uint64_t i = 1; i <= BLOCKS; i++) {
        block = live_table_live(&table, i * 32);
        assert_int_equal(block != NULL, i > FREED);
        assert_true(!block || block->order == i);
    }
    for (size_t at = 0; (block = live_table_next(&table, &at));)
        count++;
    assert_int_equal(count, table.live);
    /* Blocks come back when they are looked up, here the oldest ones. */
    for (uint64_t i = FREED + 1; i <= OLD; i++) {
        struct live_block *found = live_table_find(&table, i * 32);
        assert_true(found && found->state == BLOCK_LIVE && found->order == i);
        live_table_release(&table, found);
        assert_null(live_table_live(&table, i * 32));
    }
    for (size_t at = 0; (block = live_table_next(&table, &at)); count--)
        assert_true(block->order > OLD);
    assert_int_equal(count, OLD - FREED);
    live_table_clear(&table);
}

/* ---- packed blocks ----------------------------------------------------------------------- */

struct source {
    struct live_block *blocks; /* by address */
    size_t count, step, next;
};

static const struct live_block *next_of(void *context)
{
    struct source *source = context;
    const size_t at = source->next;
    source->next += source->step;
    return at < source->count ? &source->blocks[at] : NULL;
}

static void same(const struct live_block *one, const struct live_block *other)
{
    assert_true(one->address == other->address && one->size == other->size);
    assert_true(one->alloc_ns == other->alloc_ns && one->realloc_of == other->realloc_of);
    assert_true(one->order == other->order && one->count == other->count);
    assert_true(one->stack == other->stack && one->thread == other->thread);
    assert_true(one->arena == other->arena && one->type == other->type);
    assert_true(one->kind == other->kind && one->alignment == other->alignment);
    assert_true(one->state == BLOCK_LIVE && one->named == other->named);
    assert_true(one->type_by_rules == other->type_by_rules);
    assert_true(one->unknown_listed == other->unknown_listed);
}

/* Any number: short or long. */
static uint64_t any(uint64_t *seed)
{
    const uint64_t bits = random_number(seed) % 65;
    return bits == 0 ? 0 : (random_number(seed) << 32 ^ random_number(seed)) >> (64 - bits);
}

static void packs_each_block(void **state)
{
    enum { BLOCKS = 6000, SEGMENTS = 7 };
    static struct live_block blocks[BLOCKS];
    static bool taken[BLOCKS];
    struct cold_blocks *cold = cold_blocks_new();
    const struct live_block *block;
    uint64_t seed = 9, address = 0;
    size_t left = BLOCKS, place = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        address += 1 + (i % 50 ? any(&seed) % 1000 : any(&seed) % (UINT64_C(1) << 50));
        blocks[i] = i % 3 ? blocks[i - 1]
                          : (struct live_block){.count = (uint32_t)any(&seed),
                                                .stack = (uint32_t)any(&seed),
                                                .thread = (uint32_t)any(&seed),
                                                .arena = (uint32_t)any(&seed),
                                                .type = (uint32_t)any(&seed),
                                                .kind = (uint8_t)any(&seed),
                                                .alignment = (uint8_t)any(&seed),
                                                .named = i % 2,
                                                .type_by_rules = i % 5 == 0,
                                                .unknown_listed = i % 7 == 0};
        blocks[i].address = address;
        blocks[i].size = any(&seed);
        blocks[i].alloc_ns = any(&seed);
        blocks[i].order = any(&seed);
        blocks[i].realloc_of = i % 4 ? 0 : any(&seed);
    }
    assert_non_null(cold);
    /* Segments whose blocks lie between each other; some are taken out between merges. */
    for (size_t k = 0; k < SEGMENTS; k++) {
        struct source source = {blocks, BLOCKS, SEGMENTS, k};
        assert_true(cold_blocks_add(cold, next_of, &source));
        for (size_t i = k; i < BLOCKS; i += 5 * SEGMENTS) {
            block = cold_blocks_find(cold, blocks[i].address);
            assert_non_null(block);
            same(block, &blocks[i]);
            cold_blocks_take(cold);
            assert_null(cold_blocks_find(cold, blocks[i].address));
            taken[i] = true;
            left--;
        }
    }
    assert_int_equal(cold_blocks_count(cold), left);
    for (size_t i = 0; i < BLOCKS; i++) {
        block = cold_blocks_find(cold, blocks[i].address);
        assert_int_equal(block != NULL, !taken[i]);
        if (block)
            same(block, &blocks[i]);
        if (i == 0 || blocks[i - 1].address + 1 < blocks[i].address)
            assert_null(cold_blocks_find(cold, blocks[i].address - 1));
    }
    for (; cold_blocks_next(cold, &place); left--)
        ;
    assert_int_equal(left, 0);
    cold_blocks_free(cold);
}

static void sorts(void **state)
{
    enum { MOST = 100000 };
    static const uint64_t masks[] = {UINT64_MAX, 0xfff0, 0x7f00000ffff0, 1, UINT64_C(1) << 63};
    static struct number_pair pairs[MOST];
    static uint64_t numbers[MOST], room[MOST];
    uint64_t seed = 1;
    for (size_t k = 0; k < sizeof(masks) / sizeof(*masks); k++)
        for (size_t count = 0; count <= MOST; count = count * 3 + 1) {
            uint64_t sum = 0;
            for (size_t i = 0; i < count; i++) {
                const uint64_t key = (random_number(&seed) << 20 ^ random_number(&seed)) & masks[k];
                pairs[i] = (struct number_pair){key, key + 7};
                numbers[i] = key;
                sum += key;
            }
            sort_pairs(pairs, count);
            sort_numbers(numbers, room, count);
            for (size_t i = 0; i < count; i++) {
                assert_true(numbers[i] == pairs[i].key);
                assert_true(i == 0 || pairs[i - 1].key <= pairs[i].key);
                assert_true(pairs[i].value == pairs[i].key + 7);
                sum -= pairs[i].key;
            }
            assert_true(sum == 0);
        }
}

/* ---- ledgers ----------------------------------------------------------------------------- */

enum { HEAP = 0x10000000, HEAP_PAGES = 2048, CHUNKS = HEAP_PAGES * 4096 / 64 };

static void make_ledger(struct residency *residency, const struct live_table *heap, uint64_t order,
                        uint64_t ns)
{
    uint8_t bytes[64];
    uint8_t *end = trace_put_varint(bytes, HEAP / 4096);
    end = trace_put_varint(end, HEAP_PAGES / 2 << 3 | TRACE_PAGE_PRESENT);
    end = trace_put_varint(end, 1);
    end = trace_put_varint(end, (HEAP_PAGES / 2 - 1) << 3 | TRACE_PAGE_SWAPPED);
    const size_t length = (size_t)(end - bytes);
    const struct trace_extension resident = {.number = ns, .size = length};
    const struct trace_extension pages = {.name = {.bytes = (const char *)bytes, .length = length}};
    assert_true(residency_begin(residency, &resident, ns, ns, NULL));
    assert_true(residency_pages(residency, &pages));
    assert_true(residency_is_whole(residency));
    assert_true(residency_ledger(residency, heap, order, ns, ns));
}

static void agree(const struct residency_moment *one, const struct residency_moment *other)
{
    uint64_t live = 0;
    assert_int_equal(one->sum_count, other->sum_count);
    assert_memory_equal(one->sums, other->sums, one->sum_count * sizeof(*one->sums));
    assert_int_equal(one->row_count, other->row_count);
    for (size_t i = 0; i < one->row_count; i++) {
        assert_int_equal(one->rows[i].class, other->rows[i].class);
        assert_int_equal(one->rows[i].bytes, other->rows[i].bytes);
        assert_int_equal(one->rows[i].blocks, other->rows[i].blocks);
    }
    for (size_t i = 0; i < one->sum_count; i++)
        live += one->sums[i].live_count;
    assert_true(live > 0);
}

static void knows_what_has_changed(void **state)
{
    enum { LEDGERS = 40, EVENTS = 9000 };
    static struct trace_scan scan = {.library = HEAP_GLIBC};
    struct residency *changes = residency_new(&scan), *all = residency_new(&scan);
    struct live_table heap = {.seed = 0};
    uint64_t seed = 5, order = 0, ns = 0;
    const struct trace_extension mapping = {.address = HEAP,
                                            .size = HEAP_PAGES * 4096,
                                            .flags = TRACE_MAPPING_WRITE,
                                            .name = {.bytes = "[heap]", .length = 6}};
    assert_true(changes && all);
    assert_true(residency_mapping(changes, &mapping) && residency_mapping(all, &mapping));
    for (unsigned ledger = 0; ledger < LEDGERS; ledger++) {
        /* Few events or many: those that are more than half of the blocks are read again. */
        const uint64_t events = ledger % 8 == 5 ? CHUNKS : EVENTS;
        for (uint64_t i = 0; i < events; i++) {
            const uint64_t number = random_number(&seed);
            const uint64_t address = HEAP + 16 + number % CHUNKS * 64;
            struct live_block *block = live_table_find(&heap, address);
            assert_non_null(block);
            ns += number >> 40 & 1; /* several events have one time */
            if (block->state == BLOCK_LIVE && (number >> 30) % 4 == 0) {
                block->type = 3;
                assert_true(residency_changed(changes, block));
            } else if (block->state == BLOCK_LIVE) {
                live_table_release(&heap, block);
                assert_true(residency_freed(changes, block) && residency_freed(all, block));
                block->alloc_ns = ns;
            } else if ((number >> 30) % 8) {
                assert_true(residency_allocated(changes, address, block));
                block = begin(&heap, address, ++order);
                block->size = number % 5000 == 7 ? UINT64_C(5) << 32 : number % 57;
                block->alloc_ns = ns;
                block->stack = (uint32_t)(number >> 33) % 50;
                block->type = number >> 38 & 1;
            }
        }
        residency_forget_blocks(all);
        make_ledger(changes, &heap, order, ns);
        make_ledger(all, &heap, order, ns);
        agree(&changes->moments[ledger], &all->moments[ledger]);
    }
    live_table_clear(&heap);
    residency_free(changes);
    residency_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_block),
        cmocka_unit_test(packs_each_block),
        cmocka_unit_test(sorts),
        cmocka_unit_test(knows_what_has_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
