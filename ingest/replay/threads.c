/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/threads.h"

#include <stdlib.h>

#include "schemas/session_ids.h"

uint32_t threads_known(const struct threads *threads, uint32_t number)
{
    uint64_t hash = hash_combine(hash_seed(), number);
    size_t probe = index_map_begin(&threads->by_number, hash);
    uint32_t index;
    while ((index = index_map_next(&threads->by_number, hash, &probe)) != INDEX_NONE)
        if (threads->rows[index].number == number)
            break;
    return index;
}

bool threads_possible(const struct threads *threads, uint64_t number)
{
    return number != 0 && session_id_possible(number, threads->count + 1);
}

uint32_t threads_find(struct threads *threads, uint32_t number)
{
    uint64_t hash = hash_combine(hash_seed(), number);
    uint32_t index = threads_known(threads, number);
    if (index != INDEX_NONE)
        return index;
    if (!array_reserve(&threads->rows, &threads->capacity, threads->count + 1,
                       sizeof(*threads->rows)) ||
        !index_map_insert(&threads->by_number, hash, (uint32_t)threads->count))
        return INDEX_NONE;
    threads->rows[threads->count] = (struct thread_row){
        .number = number, .start_ticks = THREAD_TIME_NONE, .end_ticks = THREAD_TIME_NONE};
    return (uint32_t)threads->count++;
}

void threads_free(struct threads *threads)
{
    free(threads->rows);
    index_map_free(&threads->by_number);
    *threads = (struct threads){0};
}
