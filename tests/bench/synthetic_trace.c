/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * synthetic_trace FILE [ALLOCATIONS [THREADS [STACKS [LIVE [FIRST]]]]]: a trace as of a busy
 * program, for benchmarks: 20,000 stacks of about 12 frames whose use is skewed, 1 in 20 blocks
 * reallocated, most blocks freed soon, some late, 1 in 200 never, a fifth by another thread than
 * their own. LIVE blocks are live at once, beside those that are never freed. FIRST is near the
 * first address.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/ingest/trace_builder.h"

enum { WINDOW = 65536, RECENT = 1024, DEPTH = 12, THREADS_MAX = 64 };

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* A tree: each stack's outer frames are shared with others. Returns the first leaf's id. */
static uint32_t put_tree(struct lane *lane, uint32_t stacks)
{
    uint32_t id = 0, inner = stacks / 10 + 1;
    lane_extended(lane, TRACE_EXT_MODULE, "wnnnnssn", lane->coding.ticks, (uint64_t)1,
                  UINT64_C(0x400000), UINT64_C(0x400000), UINT64_C(0x4000000), "/opt/synthetic",
                  "\x01\x02\x03\x04", (uint64_t)0);
    for (; id < DEPTH; id++)
        lane_node(lane, id + 1, id, TRACE_FRAME_RETURN, 1, 0x1000 + id * 16);
    for (uint32_t i = 0; i < inner; i++, id++)
        lane_node(lane, id + 1, 1 + i % id, TRACE_FRAME_RETURN, 1, 0x10000 + i * 16);
    for (uint32_t i = 0; i < stacks; i++)
        lane_node(lane, id + 1 + i, DEPTH + 1 + i % inner, TRACE_FRAME_RETURN, 1,
                  0x100000 + i * 16);
    return id + 1;
}

int main(int argc, char **argv)
{
    static struct lane lanes[THREADS_MAX];
    if (argc < 2) {
        fprintf(stderr,
                "usage: synthetic_trace FILE [ALLOCATIONS [THREADS [STACKS [LIVE [FIRST]]]]]\n");
        return 2;
    }
    uint64_t allocations = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
    unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 4;
    uint32_t stacks = argc > 4 ? (uint32_t)atoi(argv[4]) : 20000;
    uint64_t window = argc > 5 ? strtoull(argv[5], NULL, 10) : WINDOW;
    if (threads < 1 || threads > THREADS_MAX || stacks < 1 || window < RECENT)
        return 2;
    uint64_t *live = calloc(window, sizeof(*live));
    if (!live)
        return 1;
    struct trace_builder *builder = trace_builder_new(TRACE_CHUNK_SIZE_DEFAULT, TRACE_CLOCK_TSC);
    uint64_t ticks = 1000, next_address = argc > 6 ? strtoull(argv[6], NULL, 0) : 0x10000;
    for (unsigned i = 0; i < threads; i++)
        lane_begin(&lanes[i], builder, i + 1, ticks);
    uint32_t leaf = put_tree(&lanes[0], stacks);
    for (uint64_t n = 0; n < allocations; n++) {
        struct lane *lane = &lanes[n / 64 % threads];
        uint64_t *place = &live[draw() % (draw() % 4 ? RECENT : window)];
        uint64_t random = draw(), size = 16 + (random >> 8) % (random % 8 ? 128 : 4096);
        uint32_t stack = leaf + (uint32_t)((random >> 20) % (1 + (random >> 40) % stacks));
        ticks += 40 + random % 64;
        if (*place != 0 && random % 200 != 0) {
            struct lane *freer = random % 5 ? lane : &lanes[(random >> 4) % threads];
            if (random % 20 == 7) {
                lane_realloc(lane, ticks, ticks + 30, *place, *place, size, stack,
                             TRACE_REALLOC_IN_PLACE);
                ticks += 30;
                continue;
            }
            lane_free(freer, ticks, *place);
            ticks += 20;
        } else {
            next_address += 4224;
            *place = next_address;
        }
        lane_alloc(lane, ticks, *place, size, stack);
    }
    lane_extended(&lanes[0], TRACE_EXT_END, "wn", ticks, (uint64_t)TRACE_END_EXIT);
    for (unsigned i = 0; i < threads; i++)
        lane_seal(&lanes[i]);
    trace_builder_end(builder, TRACE_STATE_ENDED, ticks);
    trace_builder_save(builder, argv[1]);
    trace_builder_free(builder);
    free(live);
    return 0;
}
