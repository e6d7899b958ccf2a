/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"

bool symbols_intervals_add(struct symbols_intervals *map, uint64_t start, uint64_t end,
                           uint32_t value)
{
    if (start >= end)
        return true;
    if (!ARRAY_RESERVE(map->intervals, map->count, map->capacity))
        return false;
    map->intervals[map->count++] = (struct symbols_interval){start, end, value};
    return true;
}

/* Sorts by start; an outer interval comes before an inner one. */
static int compare_intervals(const void *left, const void *right)
{
    const struct symbols_interval *a = left, *b = right;
    return ORDER(a->start, b->start) ?: ORDER(b->end, a->end) ?: ORDER(a->value, b->value);
}

/* Adds a segment. It replaces an earlier one with the same start, and joins an equal neighbour. */
static void emit(struct symbols_intervals *map, uint64_t start, uint32_t value)
{
    if (map->segment_count > 0 && map->segments[map->segment_count - 1].start == start)
        map->segment_count--;
    if (map->segment_count > 0 && map->segments[map->segment_count - 1].value == value)
        return;
    map->segments[map->segment_count++] = (struct symbols_segment){start, value};
}

/* Ends the open intervals that end at or before `limit`, the innermost first. If intervals overlap
 * without nesting, the one that began last keeps its whole length. */
static size_t close_until(struct symbols_intervals *map, const uint32_t *open, size_t depth,
                          uint64_t limit)
{
    while (depth > 0) {
        uint64_t end = map->intervals[open[depth - 1]].end;
        if (end > limit)
            break;
        while (depth > 0 && map->intervals[open[depth - 1]].end <= end)
            depth--;
        emit(map, end, depth == 0 ? SYMBOLS_NOWHERE : map->intervals[open[depth - 1]].value);
    }
    return depth;
}

/* Sweeps once over the starts with a stack of the open intervals. */
bool symbols_intervals_settle(struct symbols_intervals *map)
{
    if (map->count == 0)
        return true;
    uint32_t *open = malloc(map->count * sizeof(*open));
    map->segments = calloc(2 * map->count + 1, sizeof(*map->segments));
    if (!open || !map->segments || map->count >= SYMBOLS_NOWHERE) {
        free(open);
        return false;
    }
    qsort(map->intervals, map->count, sizeof(*map->intervals), compare_intervals);
    size_t depth = 0;
    for (size_t i = 0; i < map->count; i++) {
        depth = close_until(map, open, depth, map->intervals[i].start);
        open[depth++] = (uint32_t)i;
        emit(map, map->intervals[i].start, map->intervals[i].value);
    }
    close_until(map, open, depth, UINT64_MAX);
    FREE_ALL(open, map->intervals);
    map->intervals = NULL;
    map->count = map->capacity = 0;
    struct symbols_segment *shrunk =
        realloc(map->segments, map->segment_count * sizeof(*map->segments));
    if (shrunk)
        map->segments = shrunk;
    return true;
}

uint32_t symbols_intervals_find(const struct symbols_intervals *map, uint64_t address)
{
    size_t low = 0;
    ARRAY_BISECT(low, map->segment_count, map->segments[middle].start <= address);
    return low == 0 ? SYMBOLS_NOWHERE : map->segments[low - 1].value;
}

void symbols_intervals_free(struct symbols_intervals *map)
{
    FREE_ALL(map->intervals, map->segments);
    memset(map, 0, sizeof(*map));
}
