/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the traces of a process, its child and its grandchild: FOLDER/1, FOLDER/2 and FOLDER/3.
 * usage: fork_traces FOLDER
 *
 * The first fork takes 1 us. In its middle one block is allocated and another one freed. The child
 * frees its copies of both before it forks.
 */
#include <stdio.h>

#include "tests/ingest/trace_builder.h"

#define N(number) ((uint64_t)(number))

enum {
    START = 1000,
    FORK = 3000,
    FORKED = 4000,
    FORK_AGAIN = 6000,
    FORKED_AGAIN = 6010,
    END = 7000
};

/* Begins the trace of process `number`, which its predecessor forked between the two ticks. */
static struct trace_builder *begin(struct lane *lane, uint64_t number, uint64_t fork_begin,
                                   uint64_t fork_end)
{
    const uint64_t later = fork_end ? fork_end - START : 0;
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    builder->header.trace_id = number;
    builder->header.start_monotonic_ns += later;
    builder->header.start_realtime_ns += later;
    builder->header.start_ticks += later;
    lane_begin(lane, builder, 1, START + later);
    lane_extended(lane, TRACE_EXT_PROCESS, "nnnssssnnsnns", number, number - 1, number - 1,
                  "/bin/x", "/", "host", "6.1", N(0), N(1), "x", fork_begin, fork_end, "boot");
    lane_node(lane, 1, 0, TRACE_FRAME_RETURN, 0, 0x1120);
    return builder;
}

static void end(struct trace_builder *builder, struct lane *lane, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%u", folder, (unsigned)builder->header.trace_id);
    lane_seal(lane);
    trace_builder_end(builder, TRACE_STATE_ENDED, END);
    trace_builder_save(builder, path);
    trace_builder_free(builder);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    struct lane lane;
    struct trace_builder *builder = begin(&lane, 1, 0, 0);
    lane_alloc(&lane, START + 100, 0x1000, 16, 1);
    lane_alloc(&lane, START + 200, 0x2000, 32, 1);
    lane_alloc(&lane, FORK + 100, 0x3000, 64, 1);
    lane_free(&lane, FORK + 200, 0x2000);
    lane_free(&lane, FORKED + 100, 0x3000);
    end(builder, &lane, argv[1]);

    builder = begin(&lane, 2, FORK, FORKED);
    lane_free(&lane, FORKED + 200, 0x3000);
    lane_free(&lane, FORKED + 300, 0x2000);
    end(builder, &lane, argv[1]);

    builder = begin(&lane, 3, FORK_AGAIN, FORKED_AGAIN);
    lane_free(&lane, FORKED_AGAIN + 100, 0x1000);
    end(builder, &lane, argv[1]);
    return 0;
}
