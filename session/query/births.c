/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the blocks that were allocated in each slot, by colour. */
#include "session/births.h"

#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/scan/kernels.h"

/* The sums of one thread. */
struct births {
    const struct color_map *map;
    uint64_t from, to;
    size_t count;
    uint64_t slots[][SESSION_COLORS];
};

/* Returns the slot of a time: slot i begins at length * i / count, rounded down. */
static size_t slot_of(const struct births *births, uint64_t ns)
{
    const uint64_t length = births->to - births->from, offset = ns - births->from;
    return (size_t)(((unsigned __int128)(offset + 1) * births->count - 1) / length);
}

static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct births *births = context;
    const struct color_map *map = births->map;
    struct kernel_rows batch;
    uint64_t began[KERNEL_ROWS], counts[KERNEL_ROWS], code[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &batch)
    {
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &batch, began);
        kernel_take(&rows->counts, &batch, counts);
        kernel_take(&rows->views[map->column], &batch, code);
        for (size_t i = 0; i < batch.count; i++) {
            if (began[i] < births->from || began[i] >= births->to)
                continue;
            const uint8_t color = !rows->colors ? 0 : rows->colors[batch.first + batch.row[i]];
            births->slots[slot_of(births, began[i])][color_map_of(map, code[i], color)] +=
                counts[i];
        }
    }
}

static bool is_wanted(const void *context, const struct column_store *store, uint32_t chunk)
{
    const struct births *births = context;
    return column_store_min(store, chunk, COLUMN_ALLOC_NS) < births->to &&
           column_store_max(store, chunk, COLUMN_ALLOC_NS) >= births->from;
}

bool selection_births(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                      enum session_color_by by, uint64_t (*births)[SESSION_COLORS],
                      struct session_error *error)
{
    const struct color_map *map = selection_color_map(selection, by, error);
    struct scan_contexts contexts;
    if (!map)
        return false;
    if (to_ns <= from_ns || count == 0)
        return session_fail(error, 0, "a timeline needs slots and a time span");
    const size_t size = count * sizeof(*births);
    if (!scan_contexts_open(selection->session, &contexts, sizeof(struct births) + size,
                            (size_t)64 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct births *part = contexts.each[i];
        part->map = map;
        part->from = from_ns;
        part->to = to_ns;
        part->count = count;
    }
    const bool good = scan_wanted_chunks(
        selection->session, &selection->set,
        color_map_columns(map) | COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_SIZE), is_wanted,
        add_rows, contexts.each, contexts.threads, error);
    memset(births, 0, size);
    for (size_t i = 0; i < contexts.threads; i++) {
        const struct births *part = contexts.each[i];
        for (size_t slot = 0; slot < count; slot++)
            for (size_t color = 0; color < SESSION_COLORS; color++)
                births[slot][color] += part->slots[slot][color];
    }
    scan_contexts_close(&contexts);
    return good;
}
