/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/clock.h"

void trace_time_init(struct trace_time *time, const struct trace_file *file, uint64_t record_ticks,
                     uint64_t record_ns)
{
    const struct trace_file_header *header = trace_file_header(file);
    uint64_t ticks, ns;
    *time = (struct trace_time){.start_ticks = header->start_ticks};
    if (header->clock == TRACE_CLOCK_NANOSECONDS)
        return;
    trace_file_last_clock(file, &ticks, &ns);
    if (header->end_ticks == 0 && record_ticks > ticks) {
        ticks = record_ticks;
        ns = record_ns;
    }
    /* Damaged pairs must not overflow the products; a line of 2^62 ns is 146 years. */
    if (ticks <= header->start_ticks || ns <= header->start_monotonic_ns ||
        ticks - header->start_ticks > INT64_MAX / 2 ||
        ns - header->start_monotonic_ns > INT64_MAX / 2) {
        time->unknown = true;
        return;
    }
    time->ticks = ticks - header->start_ticks;
    time->ns = ns - header->start_monotonic_ns;
    time->scaled = true;
    time->shift = 64;
    unsigned __int128 factor;
    do {
        time->shift--;
        factor = ((unsigned __int128)time->ns << time->shift) / time->ticks;
    } while (factor > UINT64_MAX && time->shift > 0);
    time->factor = factor > UINT64_MAX ? UINT64_MAX : (uint64_t)factor;
}
