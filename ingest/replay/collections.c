/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/collections.h"

#include <stdlib.h>

static uint32_t find(const struct collections *collections, uint32_t id)
{
    const uint64_t hash = hash_combine(hash_seed(), id);
    size_t probe = index_map_begin(&collections->by_id, hash);
    uint32_t place;
    while ((place = index_map_next(&collections->by_id, hash, &probe)) != INDEX_NONE)
        if (collections->runtimes[place].id == id)
            break;
    return place;
}

/* Returns the place of the runtime, which the first use adds. INDEX_NONE if memory is exhausted. */
static uint32_t find_or_add(struct collections *collections, uint32_t id)
{
    const uint32_t known = find(collections, id);
    if (known != INDEX_NONE)
        return known;
    const uint32_t place = (uint32_t)collections->runtime_count;
    if (!ARRAY_RESERVE(collections->runtimes, collections->runtime_count,
                       collections->runtime_capacity) ||
        !index_map_insert(&collections->by_id, hash_combine(hash_seed(), id), place))
        return INDEX_NONE;
    collections->runtimes[collections->runtime_count++] = (struct collecting_runtime){.id = id};
    return place;
}

/* Ends the collection of a runtime. `whole`: its end was recorded. */
static void end(struct collections *collections, uint32_t place, bool whole, uint64_t ns)
{
    struct collecting_runtime *runtime = &collections->runtimes[place];
    struct collection_row *row = &collections->rows[runtime->row];
    runtime->collects = false;
    collections->open--;
    collections->open_sum -= place;
    if (!whole)
        return;
    row->ended = true;
    row->end_ns = ns;
    runtime->has_ended_one = true;
    runtime->last_ns = runtime->began_ns;
}

bool collections_before(struct collections *collections, uint32_t runtime, int64_t before_ns)
{
    const uint32_t place = find_or_add(collections, runtime);
    if (place == INDEX_NONE)
        return false;
    struct collecting_runtime *of = &collections->runtimes[place];
    if (!of->has_ended_one)
        of->last_ns = -before_ns;
    of->has_ended_one = true;
    return true;
}

bool collections_mark(struct collections *collections, uint32_t runtime, bool begins, uint64_t ns)
{
    const uint32_t place = find_or_add(collections, runtime);
    if (place == INDEX_NONE ||
        !ARRAY_RESERVE(collections->rows, collections->count, collections->capacity))
        return false;
    struct collecting_runtime *of = &collections->runtimes[place];
    if (of->collects)
        end(collections, place, !begins, ns);
    if (!begins)
        return true;
    of->row = collections->count;
    of->began_ns = (int64_t)ns;
    of->collects = true;
    collections->open++;
    collections->open_sum += place;
    collections->rows[collections->count++] =
        (struct collection_row){.runtime = runtime, .begin_ns = ns};
    return true;
}

bool collections_go_on(struct collections *collections, uint32_t runtime, int64_t before_ns)
{
    uint32_t place = find(collections, runtime);
    if (place != INDEX_NONE && collections->runtimes[place].collects)
        return true;
    if (!collections_mark(collections, runtime, true, 0))
        return false;
    place = find(collections, runtime);
    collections->runtimes[place].began_ns = -before_ns;
    return true;
}

uint32_t collections_take(struct collections *collections, uint32_t runtime, uint64_t bytes)
{
    uint32_t place = runtime ? find(collections, runtime) : INDEX_NONE;
    if (place == INDEX_NONE || !collections->runtimes[place].collects)
        place = collections->open == 1 ? (uint32_t)collections->open_sum : INDEX_NONE;
    if (place == INDEX_NONE)
        return 0;
    struct collection_row *row = &collections->rows[collections->runtimes[place].row];
    row->count++;
    row->bytes += bytes;
    return row->runtime;
}

bool collections_last(const struct collections *collections, uint32_t runtime, int64_t *ns)
{
    const uint32_t place = runtime ? find(collections, runtime) : INDEX_NONE;
    if (place == INDEX_NONE || !collections->runtimes[place].has_ended_one)
        return false;
    *ns = collections->runtimes[place].last_ns;
    return true;
}

void collections_free(struct collections *collections)
{
    free(collections->rows);
    free(collections->runtimes);
    index_map_free(&collections->by_id);
    *collections = (struct collections){0};
}
