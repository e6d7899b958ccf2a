/* SPDX-License-Identifier: BSD-2-Clause */
/* The slots of the chart as rows of a table, for `:w`. */
#include "tui/view/timeline/timeline.h"

enum {
    COLUMN_FROM,
    COLUMN_TO,
    COLUMN_LIVE,
    COLUMN_LIVE_COUNT,
    COLUMN_PEAK,
    COLUMN_ALLOCATED,
    COLUMN_ALLOCATED_COUNT,
    COLUMN_FREED,
    COLUMN_FREED_COUNT,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_FROM] = {.title = "from_ns"},
    [COLUMN_TO] = {.title = "to_ns"},
    [COLUMN_LIVE] = {.title = "live_bytes"}, /* at the slot's end */
    [COLUMN_LIVE_COUNT] = {.title = "live_count"},
    [COLUMN_PEAK] = {.title = "peak_bytes"},
    [COLUMN_ALLOCATED] = {.title = "allocated_bytes"},
    [COLUMN_ALLOCATED_COUNT] = {.title = "allocated_count"},
    [COLUMN_FREED] = {.title = "freed_bytes"},
    [COLUMN_FREED_COUNT] = {.title = "freed_count"},
};

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct timeline *timeline = context;
    const struct session_slot *slot = &timeline->slots[row];
    const uint64_t numbers[COLUMNS] = {
        [COLUMN_FROM] = timeline_edge(timeline, (int)row),
        [COLUMN_TO] = timeline_edge(timeline, (int)row + 1),
        [COLUMN_LIVE] = slot->live_bytes,
        [COLUMN_LIVE_COUNT] = slot->live_count,
        [COLUMN_PEAK] = slot->peak_bytes,
        [COLUMN_ALLOCATED] = slot->allocated_bytes,
        [COLUMN_ALLOCATED_COUNT] = slot->allocated_count,
        [COLUMN_FREED] = slot->freed_bytes,
        [COLUMN_FREED_COUNT] = slot->freed_count,
    };
    out->is_number = true;
    out->number = numbers[column];
}

bool timeline_write_slots(const struct timeline *timeline, FILE *out, enum table_format format)
{
    const struct table_source source = {.context = (void *)timeline,
                                        .columns = columns,
                                        .column_count = COLUMNS,
                                        .rows = timeline->slots_known ? (size_t)timeline->slot_count
                                                                      : 0,
                                        .cell = cell};
    table_write(&source, out, format);
    return source.rows > 0;
}
