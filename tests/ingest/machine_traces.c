/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the trace of a process of some machine.
 * usage: machine_traces FILE HOST BOOT MONOTONIC REALTIME PID BYTES
 *
 * The process begins at these clocks (ns), allocates BYTES 100 us later, frees them after another
 * 1000 us and ends 100 us after that. BOOT may be "-", for a trace from before the boot id was
 * recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ingest/trace_builder.h"

#define N(number) ((uint64_t)(number))

enum { START = 1000, MICROSECOND = 1000 };

int main(int argc, char **argv)
{
    if (argc != 8)
        return 2;
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    const uint64_t pid = strtoull(argv[6], NULL, 10), bytes = strtoull(argv[7], NULL, 10);
    const bool old = strcmp(argv[3], "-") == 0;
    struct lane lane;
    builder->header.trace_id += pid;
    builder->header.start_monotonic_ns = strtoull(argv[4], NULL, 10);
    builder->header.start_realtime_ns = strtoull(argv[5], NULL, 10);
    lane_begin(&lane, builder, 1, START);
    lane_extended(&lane, TRACE_EXT_PROCESS, old ? "nnnssssnns" : "nnnssssnnsnns", pid, N(1), N(0),
                  "/bin/x", "/", argv[2], "6.1", N(0), N(1), "x", N(0), N(0), argv[3]);
    lane_node(&lane, 1, 0, TRACE_FRAME_RETURN, 0, 0x1120);
    lane_alloc(&lane, START + 100 * MICROSECOND, 0x1000, bytes, 1);
    lane_free(&lane, START + 1100 * MICROSECOND, 0x1000);
    lane_seal(&lane);
    trace_builder_end(builder, TRACE_STATE_ENDED, START + 1200 * MICROSECOND);
    trace_builder_save(builder, argv[1]);
    trace_builder_free(builder);
    return 0;
}
