/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums by time and key, compared with plain arrays: random blocks of several functions, types,
 * sizes and tiles, some named late, over many and over few slots.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ingest/replay/slot_sums.h"

enum { KEYS_MOST = 12, LIVE_MOST = 3000 };

struct block {
    uint64_t address, size, alloc_ns;
    uint32_t function, type;
};

/* The sums of one key and level, by slot and number. */
struct expected {
    unsigned key, level;
    uint64_t slot_ns;        /* of the level */
    struct slot_cell *cells; /* slot * KEYS_MOST + number */
    uint64_t *peak;          /* largest live bytes in the slot */
};

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static uint64_t number_of(unsigned key, const struct block *block, const struct slot_sums *sums)
{
    const struct slot_sums_tile *tiles;
    const size_t count = slot_sums_tiles(sums, &tiles);
    size_t tile = 0;
    if (key == SLOT_KEY_ALL)
        return 0;
    if (key == SLOT_KEY_FUNCTION)
        return block->function;
    if (key == SLOT_KEY_TYPE)
        return block->type;
    if (key == SLOT_KEY_SIZE)
        return slot_size_class(block->size);
    while (tile < count && tiles[tile].number != block->address >> SLOT_TILE_SHIFT)
        tile++;
    assert_true(tile < count && tiles[tile].largest >= block->size);
    return tile + 1;
}

struct happened {
    struct block block;
    uint64_t ns;
    bool freed;
};

struct run {
    struct slot_sums *sums;
    struct happened *events;
    size_t count;
    size_t *allocated_by; /* by event that frees: the event that allocated */
};

static void put(struct run *run, const struct block *block, bool freed, uint64_t ns,
                uint64_t live_bytes)
{
    const struct slot_event event = {.ns = ns,
                                     .address = block->address,
                                     .size = block->size,
                                     .function = block->function,
                                     .type = block->type,
                                     .live_bytes = live_bytes};
    assert_true(freed ? slot_sums_free(run->sums, &event) : slot_sums_allocate(run->sums, &event));
    run->events[run->count++] = (struct happened){*block, ns, freed};
}

/* Runs `allocations` random blocks over `duration_ns`, and names one of `named` late. */
static void make(struct run *run, uint64_t allocations, uint64_t duration_ns, uint64_t named)
{
    static size_t live[LIVE_MOST]; /* events that allocated */
    size_t live_count = 0;
    uint64_t live_bytes = 0, ns = 0, step = duration_ns / allocations / 2 * 2, made = 0;
    run->events = calloc(2 * allocations, sizeof(*run->events));
    run->allocated_by = calloc(2 * allocations, sizeof(*run->allocated_by));
    while (made < allocations) {
        if (live_count == LIVE_MOST || (live_count > 0 && draw(100) < 48)) {
            size_t at = draw(live_count), event = live[at];
            live_bytes -= run->events[event].block.size;
            run->allocated_by[run->count] = event;
            put(run, &run->events[event].block, true, ns, live_bytes);
            live[at] = live[--live_count];
            continue;
        }
        ns += draw(20) == 0 ? draw(20 * step + 1) : 0;
        ns = ns > duration_ns ? duration_ns : ns;
        const struct block block = {.address = (UINT64_C(0x7f0000) + draw(8)) << SLOT_TILE_SHIFT,
                                    .size = draw(500),
                                    .alloc_ns = ns,
                                    .function = (uint32_t)draw(3) * 5,
                                    .type = (uint32_t)draw(4)};
        live_bytes += block.size;
        live[live_count++] = run->count;
        put(run, &block, false, ns, live_bytes);
        made++;
        if (named == 0 || draw(named) != 0)
            continue;
        struct happened *late = &run->events[live[draw(live_count)]];
        uint32_t type = (uint32_t)draw(6);
        assert_true(slot_sums_rename(run->sums, late->block.type, type, late->block.size,
                                     late->block.alloc_ns));
        late->block.type = type;
    }
    assert_true(slot_sums_finish(run->sums, allocations));
}

static struct expected expect(const struct run *run, unsigned key, unsigned level)
{
    const uint64_t slots = slot_level_slots(level);
    struct expected expected = {key, level, slot_sums_slot_ns(run->sums) * (SLOT_FINEST / slots),
                                calloc(slots * KEYS_MOST, sizeof(struct slot_cell)),
                                calloc(slots, sizeof(uint64_t))};
    uint64_t live = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct happened *event = &run->events[i];
        struct block block = event->block;
        if (event->freed) /* named since, or before */
            block.type = run->events[run->allocated_by[i]].block.type;
        const uint64_t slot = event->ns / expected.slot_ns;
        const uint64_t number = number_of(key, &block, run->sums);
        assert_in_range(number, 0, KEYS_MOST - 1);
        struct slot_cell *cell = &expected.cells[slot * KEYS_MOST + number];
        *(event->freed ? &cell->freed_count : &cell->allocated_count) += 1;
        *(event->freed ? &cell->freed_bytes : &cell->allocated_bytes) += block.size;
        live += event->freed ? -block.size : block.size;
        expected.peak[slot] = live > expected.peak[slot] ? live : expected.peak[slot];
    }
    return expected;
}

/* Compares a level of a key. Returns its cells. */
static size_t compare_level(const struct expected *expected, const struct slot_sums *sums)
{
    const unsigned key = expected->key, level = expected->level;
    const size_t slots = slot_level_slots(level);
    struct slot_cell *left = expected->cells;
    struct slot_sums_part found;
    size_t next = 0, cells = 0, live = 0, last = 0;
    while (slot_sums_next(sums, (enum slot_key)key, &next, &found)) {
        struct slot_part part;
        if (found.level != level)
            continue;
        assert_true(slot_part_open(&part, found.data, found.length));
        for (unsigned i = 0; i < SLOT_PART; i++) {
            struct slot_bytes bytes = slot_part_cells(&part, i);
            struct slot_cell cell;
            uint64_t next_key = 0;
            size_t slot = (size_t)found.number * SLOT_PART + i;
            assert_true(slot < slots && slot >= last);
            last = slot;
            while (slot_get_cell(&bytes, (enum slot_key)key, &cell, &next_key)) {
                struct slot_cell *should = &left[slot * KEYS_MOST + cell.key];
                assert_in_range(cell.key, 0, KEYS_MOST - 1);
                assert_int_equal(cell.allocated_count, should->allocated_count);
                assert_int_equal(cell.allocated_bytes, should->allocated_bytes);
                assert_int_equal(cell.freed_count, should->freed_count);
                assert_int_equal(cell.freed_bytes, should->freed_bytes);
                if (key == SLOT_KEY_ALL) {
                    uint64_t peak = expected->peak[slot];
                    assert_int_equal(cell.rise, peak > live ? peak - live : 0);
                    live += cell.allocated_bytes - cell.freed_bytes;
                }
                *should = (struct slot_cell){0};
                cells++;
            }
            assert_false(bytes.failed);
        }
    }
    for (size_t i = 0; cells > 0 && i < slots * KEYS_MOST; i++)
        assert_int_equal(left[i].allocated_count + left[i].freed_count, 0); /* none is missing */
    return cells;
}

static void check(uint64_t allocations, uint64_t duration_ns, uint64_t named, unsigned levels,
                  unsigned given_up_most)
{
    unsigned given_up = 0;
    struct run run = {.sums = slot_sums_new(duration_ns, allocations)};
    random_state = allocations + duration_ns + named;
    make(&run, allocations, duration_ns, named);
    for (unsigned key = 0; key < SLOT_KEYS; key++)
        for (unsigned level = 0; level < SLOT_LEVELS; level++) {
            struct expected expected = expect(&run, key, level);
            size_t cells = compare_level(&expected, run.sums);
            assert_true(cells > 0 || level > 0);
            if (key == SLOT_KEY_ALL)
                assert_true((cells > 0) == (level < levels));
            if (key == SLOT_KEY_TILE && level == 2)
                assert_int_equal(cells, 0);
            given_up += cells == 0 && level < levels;
            free(expected.cells);
            free(expected.peak);
        }
    assert_in_range(given_up, 0, given_up_most);
    slot_sums_delete(run.sums);
    free(run.events);
    free(run.allocated_by);
}

static void many_slots(void **state)
{
    check(2 * 1048576, 4000000000, 50, 3, 4);
}

static void few_slots(void **state)
{
    check(1048575, 300000, 3, 2, 0); /* a slot is 5 ns long */
    check(200000, 60000000, 3, 2, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_slots),
        cmocka_unit_test(few_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
