/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/query/time_parts.h"

#include <stdlib.h>

#include "session/data/error.h"

bool time_parts_open(struct time_parts *parts, uint64_t from, uint64_t to, size_t slots,
                     struct session_error *error)
{
    const uint64_t length = to - from;
    const size_t count = slots * TIME_PARTS;
    *parts = (struct time_parts){.from = from, .to = to, .count = count};
    parts->bounds = malloc((count + 1) * sizeof(*parts->bounds));
    if (!parts->bounds)
        return session_fail_memory(error, "the timeline");
    for (size_t i = 0; i <= count; i++)
        parts->bounds[i] = (uint64_t)((unsigned __int128)length * i / count);
    /* With more parts than nanoseconds, time_parts_part() starts at the first part. */
    if (count < length)
        parts->scale = (uint64_t)(((unsigned __int128)count << 64) / length);
    return true;
}

void time_parts_close(struct time_parts *parts)
{
    free(parts->bounds);
    parts->bounds = NULL;
}

/* Adds the events of a slot's parts. */
static void add_parts(const struct part_sum *parts, struct slot_sums *sums,
                      struct session_slot *slot)
{
    *slot = (struct session_slot){.peak_bytes = sums->live_bytes};
    for (size_t i = 0; i < TIME_PARTS; i++) {
        const struct part_sum *part = &parts[i];
        sums->live_bytes += part->allocated_bytes - part->freed_bytes;
        sums->live_count += part->allocated_count - part->freed_count;
        slot->allocated_bytes += part->allocated_bytes;
        slot->allocated_count += part->allocated_count;
        slot->freed_bytes += part->freed_bytes;
        slot->freed_count += part->freed_count;
        slot->peak_bytes =
            sums->live_bytes > slot->peak_bytes ? sums->live_bytes : slot->peak_bytes;
    }
    slot->live_bytes = sums->live_bytes;
    slot->live_count = sums->live_count;
}

void time_parts_fill(const struct time_parts *parts, struct slot_sums *sums,
                     const struct selection *selection, struct session_slot *slots)
{
    for (size_t i = 0; i < parts->count / TIME_PARTS; i++) {
        add_parts(&sums->parts[i * TIME_PARTS], sums, &slots[i]);
        for (size_t color = 0; color < SESSION_COLORS; color++) {
            sums->live_colors[color] += sums->colors[i][color];
            slots[i].color_bytes[color] = sums->live_colors[color];
        }
    }
    if (selection->peak_ns < parts->from || selection->peak_ns >= parts->to)
        return;
    const size_t part = time_parts_part(parts, selection->peak_ns);
    struct session_slot *slot = &slots[part / TIME_PARTS];
    if (selection->peak_bytes > slot->peak_bytes)
        slot->peak_bytes = selection->peak_bytes;
}
