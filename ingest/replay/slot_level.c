/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/slot_level.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"

void slot_level_free(struct slot_level *level)
{
    free(level->bytes);
    free(level->parts);
    free(level->cells);
    *level = (struct slot_level){.of = level->of, .most = level->most};
}

void slot_level_give_up(struct slot_level *level)
{
    slot_level_free(level);
    level->given_up = true;
}

bool slot_level_close(struct slot_level *level)
{
    if (level->cells_size == 0)
        return true;
    const size_t longest = (size_t)SLOT_PART * SLOT_NUMBER_MOST + level->cells_size;
    if (level->size + longest > level->most) {
        slot_level_give_up(level);
        return true;
    }
    if (!array_reserve(&level->bytes, &level->capacity, level->size + longest, 1) ||
        !array_reserve(&level->parts, &level->part_capacity, level->part_count + 1,
                       sizeof(*level->parts)))
        return false;
    uint8_t *begin = level->bytes + level->size, *at = begin;
    for (unsigned i = 0; i < SLOT_PART; i++)
        at = slot_put_number(at, level->lengths[i]);
    memcpy(at, level->cells, level->cells_size);
    at += level->cells_size;
    level->parts[level->part_count++] =
        (struct slot_level_part){level->part, level->size, (size_t)(at - begin)};
    level->size += (size_t)(at - begin);
    level->cells_size = 0;
    memset(level->lengths, 0, sizeof(level->lengths));
    return true;
}

bool slot_level_put(struct slot_level *level, uint64_t slot, const struct slot_cell *cell)
{
    if (level->given_up)
        return true;
    if (level->part != slot / SLOT_PART) {
        if (!slot_level_close(level))
            return false;
        level->part = (uint32_t)(slot / SLOT_PART);
    }
    if (level->given_up || !array_reserve(&level->cells, &level->cells_capacity,
                                          level->cells_size + SLOT_CELL_MOST, 1))
        return level->given_up;
    uint32_t *length = &level->lengths[slot % SLOT_PART];
    if (*length == 0)
        level->next_key = 0;
    uint8_t *begin = level->cells + level->cells_size;
    size_t bytes = (size_t)(slot_put_cell(begin, level->of, cell, &level->next_key) - begin);
    *length += (uint32_t)bytes;
    level->cells_size += bytes;
    return true;
}

/* ---- changes ---------------------------------------------------------------------------- */

/* The cells of one slot. */
struct cells {
    struct slot_cell *rows;
    size_t count, capacity;
};

static struct slot_cell *cell_of(struct cells *cells, uint32_t key)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->rows[i].key == key)
            return &cells->rows[i];
    if (!array_reserve(&cells->rows, &cells->capacity, cells->count + 1, sizeof(*cells->rows)))
        return NULL;
    cells->rows[cells->count] = (struct slot_cell){.key = key};
    return &cells->rows[cells->count++];
}

static bool change_cells(struct cells *cells, const struct slot_change *change)
{
    struct slot_cell *cell = cell_of(cells, change->key);
    if (!cell)
        return false;
    cell->allocated_count--;
    cell->allocated_bytes -= change->size;
    cell = cell_of(cells, change->new_key);
    if (!cell)
        return false;
    cell->allocated_count++;
    cell->allocated_bytes += change->size;
    return true;
}

static int compare_keys(const void *left, const void *right)
{
    const struct slot_cell *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

static bool read_cells(struct cells *cells, enum slot_key of, struct slot_bytes bytes)
{
    struct slot_cell cell;
    uint64_t next_key = 0;
    cells->count = 0;
    while (slot_get_cell(&bytes, of, &cell, &next_key)) {
        if (!array_reserve(&cells->rows, &cells->capacity, cells->count + 1, sizeof(*cells->rows)))
            return false;
        cells->rows[cells->count++] = cell;
    }
    return true;
}

/* Copies a part into `to`. *changes are those not before it; those of the part are applied. */
static bool copy_part(struct slot_level *to, struct cells *cells, const struct slot_level *from,
                      const struct slot_level_part *part, const struct slot_change **changes,
                      const struct slot_change *end)
{
    struct slot_part slots;
    if (!slot_part_open(&slots, from->bytes + part->at, part->length))
        return false; /* it was made here: never */
    for (unsigned i = 0; i < SLOT_PART; i++) {
        const uint64_t slot = (uint64_t)part->number * SLOT_PART + i;
        if (!read_cells(cells, from->of, slot_part_cells(&slots, i)))
            return false;
        for (; *changes < end && (*changes)->slot == slot; ++*changes)
            if (!change_cells(cells, *changes))
                return false;
        if (cells->count > 1)
            qsort(cells->rows, cells->count, sizeof(*cells->rows), compare_keys);
        for (size_t k = 0; k < cells->count; k++)
            if ((cells->rows[k].allocated_count != 0 || cells->rows[k].freed_count != 0) &&
                !slot_level_put(to, slot, &cells->rows[k]))
                return false;
    }
    return true;
}

bool slot_level_change(struct slot_level *level, const struct slot_change *changes, size_t count)
{
    struct slot_level changed = {.of = level->of, .most = level->most};
    struct cells cells = {0};
    const struct slot_change *end = changes + count;
    bool good = true;
    for (size_t i = 0; good && i < level->part_count; i++)
        good = copy_part(&changed, &cells, level, &level->parts[i], &changes, end);
    good = good && slot_level_close(&changed);
    free(cells.rows);
    if (!good) {
        slot_level_free(&changed);
        return false;
    }
    slot_level_free(level);
    *level = changed;
    return true;
}
