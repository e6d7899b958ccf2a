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

static void put_arena_event(struct lane *lane, struct input *input, uint64_t ticks)
{
    const uint64_t arena = take(input, 6), address = take_address(input);
    switch (take(input, 6)) {
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
