/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target of the merge and the replay. The input is a programme of events by three threads on a
 * handful of addresses and arenas. It is written as a well-formed trace, so every input reaches the
 * pairing. In any order of events, the sums must agree with the rows. Built by clang with
 * MPROF_FUZZ, this is a libFuzzer program; otherwise tests/fuzz_replay.c replays the corpus.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/replay/extended.h"
#include "tests/ingest/replay_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LANES = 3, EVENTS_MOST = 2000 };

struct input {
    const uint8_t *at, *end;
};

static unsigned take(struct input *input, unsigned below)
{
    return input->at < input->end ? *input->at++ % below : 0;
}

static uint64_t take_address(struct input *input)
{
    return 0x10000 + 16 * (uint64_t)take(input, 24);
}

/* Writes what a runtime with a heap of its own says. Module 1 is such a runtime, 2 is not known. */
static void put_runtime_event(struct lane *lane, struct input *input, uint64_t ticks)
{
    const uint32_t arena = take(input, 6);
    const uint64_t address = take_address(input);
    switch (take(input, 5)) {
    case 0:
        lane_extended(lane, TRACE_EXT_COLLECTION, "wnn", ticks, (uint64_t)take(input, 2) + 1,
                      (uint64_t)take(input, 2));
        break;
    case 1:
        lane_arena_collected(lane, ticks, arena, address);
        break;
    case 2:
        lane_extended(lane, TRACE_EXT_ARENA_FREE, "wnnn", ticks, (uint64_t)arena, address,
                      (uint64_t)take(input, 3));
        break;
    default:
        lane_arena_kind(lane, ticks, arena, address, take(input, 200), take(input, 9),
                        take(input, 3) + 1);
        break;
    }
}

/* Writes what an observer says of the pages in memory: a mapping, or a moment with some runs, which
 * may be a delta of a moment that is missing. */
static void put_pages_event(struct lane *lane, struct input *input, uint64_t ticks)
{
    char runs[17] = {0};
    const unsigned count = take(input, 9), flags = take(input, 4);
    if (flags == 3) {
        lane_extended(lane, TRACE_EXT_MAPPING, "wnnnns", ticks,
                      UINT64_C(0xe000) + 4096 * (uint64_t)take(input, 6),
                      4096 * (uint64_t)take(input, 6), (uint64_t)take(input, 128), UINT64_C(0),
                      take(input, 2) ? "[heap]" : "");
        return;
    }
    for (unsigned i = 0; i < 2 * count; i++)
        runs[i] = (char)(i == 0 ? 0x0e + take(input, 4) : 1 + take(input, 255));
    lane_extended(lane, TRACE_EXT_RESIDENT, "wnnnnnnnnnnnnn", ticks, (uint64_t)take(input, 4),
                  UINT64_C(1), UINT64_C(1), (uint64_t)take(input, 9), (uint64_t)flags,
                  UINT64_C(4096), UINT64_C(4096), 2 * (uint64_t)count, UINT64_C(0), UINT64_C(0),
                  UINT64_C(0), UINT64_C(0), UINT64_C(0));
    lane_extended(lane, TRACE_EXT_PAGES, "ws", ticks, runs);
}

static void put_arena_event(struct lane *lane, struct input *input, uint64_t ticks)
{
    const uint64_t arena = take(input, 6), address = take_address(input);
    const unsigned what = take(input, 256);
    if (what >= 232) {
        put_pages_event(lane, input, ticks);
        return;
    }
    if (what >= 192) {
        put_runtime_event(lane, input, ticks);
        return;
    }
    switch (what % 6) {
    case 0:
        lane_extended(lane, TRACE_EXT_ARENA, "wnns", ticks, arena, (uint64_t)take(input, 6), "a");
        break;
    case 1:
    case 2:
        lane_extended(lane, TRACE_EXT_ARENA_ALLOC, "wnnnnn", ticks, arena, address,
                      (uint64_t)take(input, 200), (uint64_t)1, (uint64_t)take(input, 9));
        break;
    case 3:
        lane_extended(lane, TRACE_EXT_ARENA_FREE, "wnn", ticks, arena, address);
        break;
    case 4:
        lane_extended(lane, TRACE_EXT_ARENA_REALLOC, "wnnnnnn", ticks, arena, address,
                      take_address(input), (uint64_t)take(input, 200), (uint64_t)2,
                      (uint64_t)take(input, 9));
        break;
    default:
        lane_extended(lane, TRACE_EXT_ARENA_RESET, "wn", ticks, arena);
        break;
    }
}

static void put_event(struct lane *lane, struct input *input, uint64_t ticks)
{
    const unsigned stack = take(input, 9);
    const uint64_t address = take_address(input);
    switch (take(input, 10)) {
    case 0:
    case 1:
    case 2:
        lane_alloc(lane, ticks, address, take(input, 250), stack);
        break;
    case 3:
    case 4:
    case 5:
        lane_free(lane, ticks, address);
        break;
    case 6:
        lane_free_stack(lane, ticks, address, stack);
        break;
    case 7:
        lane_realloc(lane, ticks, ticks + take(input, 3), address, take_address(input),
                     take(input, 250), stack, (enum trace_realloc_outcome)take(input, 3));
        break;
    case 8:
        if (take(input, 4) == 0)
            lane_extended(lane, TRACE_EXT_AUTOSAVE, "wn", ticks, (uint64_t)take(input, 5));
        else
            lane_extended(lane, TRACE_EXT_TYPE, "wnnnnnn", ticks, (uint64_t)take(input, 3), address,
                          (uint64_t)1, (uint64_t)64, (uint64_t)take(input, 4),
                          (uint64_t)take(input, 40));
        break;
    default:
        put_arena_event(lane, input, ticks);
        break;
    }
}

/* Writes nodes 1 to 6. Stacks 7 and 8 are never defined. */
static void put_nodes(struct lane *lane)
{
    for (uint32_t id = 1; id <= 6; id++)
        lane_node(lane, id, id / 2, TRACE_FRAME_RETURN, 0, 0x1000 * id);
}

static void put_runtime(struct lane *lane, uint64_t ticks)
{
    lane_extended(lane, TRACE_EXT_RUNTIME, "wns", ticks, (uint64_t)1, "Toy");
    lane_extended(lane, TRACE_EXT_KIND, "wnns", ticks, (uint64_t)1, (uint64_t)1, "cons");
    lane_extended(lane, TRACE_EXT_KIND, "wnns", ticks, (uint64_t)2, (uint64_t)1, "");
}

static struct trace_builder *build(struct input input)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lanes[LANES];
    uint64_t now = 1000, last[LANES];
    if (take(&input, 2) == 1)
        builder->header.flags |= TRACE_FILE_CLOCK_FAST;
    for (uint32_t i = 0; i < LANES; i++) {
        lane_begin(&lanes[i], builder, i + 1, now);
        last[i] = now;
    }
    put_nodes(&lanes[0]);
    put_runtime(&lanes[0], now);
    for (unsigned n = 0; n < EVENTS_MOST && input.at < input.end; n++) {
        unsigned head = take(&input, 256), lane = head % LANES;
        now += head / LANES % 4;
        /* From 192 on, the thread has not read the clock lately. */
        uint64_t ticks = head >= 192 ? last[lane] : now;
        last[lane] = ticks;
        put_event(&lanes[lane], &input, ticks);
    }
    for (unsigned i = 0; i < LANES; i++)
        lane_seal(&lanes[i]);
    trace_builder_end(builder, TRACE_STATE_ENDED, now + 10);
    return builder;
}

/* Blocks that arenas keep are live, and those that a collector took have its stack. */
static void check_arenas(const struct replayed *replayed)
{
    const struct replay *replay = &replayed->replay;
    uint64_t taken = 0, collected = 0;
    for (size_t i = 0; i < replay->arena_count; i++) {
        const struct kept_blocks kept = replay_kept(replay, &replay->arenas[i]);
        if (kept.count > replay->arenas[i].live_count || kept.bytes > replay->arenas[i].live_bytes)
            abort();
        collected += replay->arenas[i].collected;
    }
    for (size_t i = 0; i < replay->collections.count; i++)
        taken += replay->collections.rows[i].count;
    if (taken > collected)
        abort();
    for (size_t i = 0; i < replayed->row_count; i++) {
        const uint64_t *row = replayed->rows[i];
        const bool by_collector =
            row[COLUMN_FREE_STACK] != 0 && row[COLUMN_FREE_STACK] == replayed->stacks.collector;
        if (by_collector && (row[COLUMN_ARENA] == 0 || row[COLUMN_LIFE_NS] == 0))
            abort();
        collected -= by_collector;
    }
    if (collected != 0)
        abort();
}

static void check(const struct replayed *replayed)
{
    const struct totals *totals = &replayed->totals;
    uint64_t rows = 0, live = 0, bytes = 0, stack_bytes = 0, at_peak = 0;
    for (size_t i = 0; i < replayed->row_count; i++) {
        const uint64_t *row = replayed->rows[i];
        if (row[COLUMN_STACK] >= replayed->stacks.count || row[COLUMN_REALLOC_OF] > i)
            abort();
        if (row[COLUMN_ARENA] != 0)
            continue;
        rows++;
        bytes += row[COLUMN_SIZE];
        live += row[COLUMN_LIFE_NS] == 0;
    }
    for (size_t i = 0; i < replayed->stacks.count; i++) {
        const struct stack_usage usage = stack_usages_of(&replayed->totals.stacks, i);
        stack_bytes += usage.bytes;
        at_peak += usage.at_peak_bytes;
    }
    if (!replayed->good || rows != totals->allocations || live != totals->live_count ||
        bytes != totals->bytes || stack_bytes != totals->bytes || at_peak != totals->peak_bytes)
        abort();
    check_arenas(replayed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_builder *builder = build((struct input){data, data + size});
    char path[64];
    int descriptor = memfd_create("trace", MFD_CLOEXEC);
    if (descriptor < 0 ||
        write(descriptor, builder->bytes, builder->length) != (ssize_t)builder->length)
        abort();
    trace_builder_free(builder);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    struct replayed *replayed = replay_file(path);
    check(replayed);
    replayed_free(replayed);
    close(descriptor);
    return 0;
}
