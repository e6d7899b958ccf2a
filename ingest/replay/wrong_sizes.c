/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/wrong_sizes.h"

#include <stdlib.h>

bool wrong_sizes_fit(uint64_t size, uint64_t stated_size, uint64_t alignment)
{
    if (stated_size == 0 || stated_size == size)
        return true;
    return alignment != 0 && (alignment & (alignment - 1)) == 0 &&
           ((stated_size + alignment - 1) & ~(alignment - 1)) == size;
}

static bool is_same(const struct wrong_size_row *a, const struct wrong_size_row *b)
{
    return a->stack == b->stack && a->free_stack == b->free_stack && a->size == b->size &&
           a->stated_size == b->stated_size;
}

bool wrong_sizes_add(struct wrong_sizes *sizes, const struct wrong_size_row *block)
{
    const uint64_t stacks =
        hash_combine(hash_combine(hash_seed(), block->stack), block->free_stack);
    const uint64_t hash = hash_combine(hash_combine(stacks, block->size), block->stated_size);
    size_t probe = index_map_begin(&sizes->by_row, hash);
    uint32_t index;
    while ((index = index_map_next(&sizes->by_row, hash, &probe)) != INDEX_NONE)
        if (is_same(&sizes->rows[index], block))
            break;
    if (index == INDEX_NONE) {
        if (!array_reserve(&sizes->rows, &sizes->capacity, sizes->count + 1,
                           sizeof(*sizes->rows)) ||
            !index_map_insert(&sizes->by_row, hash, (uint32_t)sizes->count))
            return false;
        index = (uint32_t)sizes->count++;
        sizes->rows[index] = *block;
        sizes->rows[index].allocations = 0;
    }
    sizes->rows[index].allocations++;
    return true;
}

void wrong_sizes_free(struct wrong_sizes *sizes)
{
    free(sizes->rows);
    index_map_free(&sizes->by_row);
    *sizes = (struct wrong_sizes){0};
}
