/* SPDX-License-Identifier: BSD-2-Clause */
/* The slots of the chart as rows of a table, for `:w`: sums, then a column for each layer. */
#include <stdio.h>
#include <string.h>

#include "tui/view/common/list.h"
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
    [COLUMN_PEAK] = {.title = "seen_peak_bytes"}, /* the slot's own peak is no less */
    [COLUMN_ALLOCATED] = {.title = "allocated_bytes", .file = "bytes"},
    [COLUMN_ALLOCATED_COUNT] = {.title = "allocated_count", .file = "allocations"},
    [COLUMN_FREED] = {.title = "freed_bytes"},
    [COLUMN_FREED_COUNT] = {.title = "freed_count"},
};

/* Writes what the chart shows of a layer. */
static void layer_cell(const struct timeline *timeline, size_t row, size_t layer,
                       struct table_cell *out)
{
    const struct timeline_colors *colors = timeline->colors ? &timeline->colors[row] : NULL;
    out->is_number = timeline->mode == TIMELINE_LIVE || colors;
    if (timeline->mode == TIMELINE_LIVE) {
        out->number = timeline->slots[row].color_bytes[layer];
    } else if (colors) {
        out->negative = colors->down[layer] > 0;
        out->number = out->negative ? colors->down[layer] : colors->up[layer];
    }
}

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct timeline *timeline = context;
    if (column >= COLUMNS) {
        layer_cell(timeline, row, column - COLUMNS, out);
        return;
    }
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

bool timeline_write_slots(const struct timeline *timeline, const struct session *session, FILE *out,
                          enum table_format format)
{
    static const char *const shown[] = {[TIMELINE_LIVE] = "live_bytes",
                                        [TIMELINE_RATE] = "allocations",
                                        [TIMELINE_NET] = "net_bytes"};
    struct table_column all[COLUMNS + SESSION_COLORS];
    char titles[SESSION_COLORS]
               [sizeof(timeline->legend->entry[0].label) + ALIKE_DIFFERENCE_SIZE + 16];
    struct alike_name names[SESSION_COLORS];
    struct legend_names legend = {session, timeline->legend};
    const size_t layers = timeline->legend->count;
    memcpy(all, columns, sizeof(columns));
    for (size_t i = 0; i < layers; i++)
        names[i] = list_legend_name(&legend, i);
    for (size_t i = 0; i < layers; i++) {
        char apart[ALIKE_DIFFERENCE_SIZE];
        snprintf(titles[i], sizeof(titles[i]), "%s: %s%s", shown[timeline->mode], names[i].name,
                 alike_difference(names, layers, i, apart));
        all[COLUMNS + i] = (struct table_column){.title = titles[i]};
    }
    const struct table_source source = {.context = (void *)timeline,
                                        .columns = all,
                                        .column_count = COLUMNS + layers,
                                        .rows = timeline->slots_known ? (size_t)timeline->slot_count
                                                                      : 0,
                                        .cell = cell};
    table_write(&source, out, format);
    return source.rows > 0;
}
