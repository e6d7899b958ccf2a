/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/regions.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"

static const uint64_t page = 4096;

/* Returns the end of a range, rounded up to pages, at most the end of the address space. */
static uint64_t range_end(uint64_t address, uint64_t size)
{
    uint64_t rounded =
        size > UINT64_MAX - page ? UINT64_MAX - page : (size + page - 1) & ~(page - 1);
    return rounded > UINT64_MAX - address ? UINT64_MAX : address + rounded;
}

/* ---- what is mapped: a list of blocks --------------------------------------------------- */

/* The place of a mapped row. Behind the last one: block == block_count. */
struct place {
    size_t block, row;
};

static uint64_t end_of(const struct region_row *row)
{
    return row->address + row->size;
}

static struct region_row *at_place(const struct regions *regions, struct place at)
{
    return at.block < regions->block_count ? &regions->live[at.block]->rows[at.row] : NULL;
}

/* Returns the place of the first mapped row that ends after `address`. */
static struct place find_live(const struct regions *regions, uint64_t address)
{
    struct place found = {0, 0};
    ARRAY_BISECT(found.block, regions->block_count,
                 end_of(&regions->live[middle]->rows[regions->live[middle]->count - 1]) <= address);
    if (found.block == regions->block_count)
        return found;
    const struct region_block *block = regions->live[found.block];
    ARRAY_BISECT(found.row, block->count, end_of(&block->rows[middle]) <= address);
    return found;
}

const struct region_row *regions_at(const struct regions *regions, uint64_t address)
{
    const struct place place = find_live(regions, address);
    if (place.block == regions->block_count)
        return NULL;
    const struct region_row *row = &regions->live[place.block]->rows[place.row];
    return row->address <= address ? row : NULL;
}

/* Adds an empty block before block `at`. */
static struct region_block *add_block(struct regions *regions, size_t at)
{
    struct region_block *block = NULL;
    if (!array_reserve(&regions->live, &regions->block_capacity, regions->block_count + 1,
                       sizeof(struct region_block *)) ||
        !(block = malloc(sizeof(*block))))
        return NULL;
    memmove(&regions->live[at + 1], &regions->live[at],
            (regions->block_count - at) * sizeof(struct region_block *));
    regions->live[at] = block;
    regions->block_count++;
    block->count = 0;
    return block;
}

static bool insert_live(struct regions *regions, const struct region_row *row)
{
    struct place at = find_live(regions, row->address);
    if (at.block == regions->block_count && at.block > 0)
        at = (struct place){at.block - 1, regions->live[at.block - 1]->count};
    struct region_block *block =
        at.block < regions->block_count ? regions->live[at.block] : add_block(regions, at.block);
    if (block && block->count == REGION_BLOCK) {
        /* Rows often come in the order of addresses: the end of a full block stays full. */
        const size_t left = at.row == REGION_BLOCK ? REGION_BLOCK : REGION_BLOCK / 2;
        struct region_block *next = add_block(regions, at.block + 1);
        if (!next)
            return false;
        next->count = REGION_BLOCK - left;
        block->count = left;
        memcpy(next->rows, block->rows + left, next->count * sizeof(*next->rows));
        if (at.row >= left) {
            block = next;
            at.row -= left;
        }
    }
    if (!block)
        return false;
    memmove(&block->rows[at.row + 1], &block->rows[at.row],
            (block->count - at.row) * sizeof(*block->rows));
    block->rows[at.row] = *row;
    block->count++;
    regions->live_count++;
    return true;
}

static void remove_live(struct regions *regions, struct place at)
{
    struct region_block *block = regions->live[at.block];
    block->count--;
    regions->live_count--;
    memmove(&block->rows[at.row], &block->rows[at.row + 1],
            (block->count - at.row) * sizeof(*block->rows));
    if (block->count > 0)
        return;
    free(block);
    regions->block_count--;
    memmove(&regions->live[at.block], &regions->live[at.block + 1],
            (regions->block_count - at.block) * sizeof(struct region_block *));
}

/* Returns how many mapped rows lie in a range, up to `most` and about a block. */
static size_t count_live(const struct regions *regions, uint64_t begin, uint64_t end, size_t most)
{
    struct place at = find_live(regions, begin);
    size_t count = 0;
    for (; at.block < regions->block_count && count <= most; at = (struct place){at.block + 1, 0}) {
        const struct region_block *block = regions->live[at.block];
        if (block->rows[at.row].address >= end)
            break;
        count += block->count - at.row;
    }
    return count;
}

/* ---- changes ---------------------------------------------------------------------------- */

/* Returns the part of `row` from `begin` to `end`. */
static struct region_row piece(const struct region_row *row, uint64_t begin, uint64_t end)
{
    struct region_row part = *row;
    part.address = begin;
    part.size = end - begin;
    if (row->file != 0)
        part.offset += begin - row->address;
    return part;
}

/* Ends the part of the mapped row at `at` that lies in [begin, end). The rest stays mapped. */
static bool end_part(struct regions *regions, struct place at, uint64_t begin, uint64_t end,
                     const struct region_end *by)
{
    const struct region_row row = *at_place(regions, at);
    const uint64_t from = begin > row.address ? begin : row.address;
    const uint64_t to = end < end_of(&row) ? end : end_of(&row);
    if (!ARRAY_RESERVE(regions->rows, regions->row_count, regions->row_capacity))
        return false;
    struct region_row ended = piece(&row, from, to);
    ended.unmap_ns = by->ns;
    ended.unmap_thread = by->thread;
    ended.unmap_stack = by->stack;
    ended.resident = from == begin && to == end ? by->resident : 0;
    regions->rows[regions->row_count++] = regions->left = ended;
    remove_live(regions, at);
    const struct region_row before = piece(&row, row.address, from),
                            behind = piece(&row, to, end_of(&row));
    return (before.size == 0 || insert_live(regions, &before)) &&
           (behind.size == 0 || insert_live(regions, &behind));
}

/* Ends what is mapped in [begin, end). */
static bool unmap_range(struct regions *regions, uint64_t begin, uint64_t end,
                        const struct region_end *by)
{
    for (;;) {
        const struct place at = find_live(regions, begin);
        const struct region_row *row = at_place(regions, at);
        if (!row || row->address >= end)
            return true;
        if (!end_part(regions, at, begin, end, by))
            return false;
    }
}

bool regions_unmap(struct regions *regions, uint64_t address, uint64_t size,
                   const struct region_end *by)
{
    regions->calls++;
    return unmap_range(regions, address, range_end(address, size), by);
}

/* Each change of protection makes a row for each mapped row in its range. Allows only so many that
 * a session stays in proportion to its trace. */
static bool may_protect(struct regions *regions, uint64_t begin, uint64_t end)
{
    enum { STEPS_A_CALL = 4, STEPS_ALWAYS = 1 << 17 };
    const uint64_t allowed = regions->calls * STEPS_A_CALL + STEPS_ALWAYS - regions->steps;
    const size_t steps = count_live(regions, begin, end, allowed);
    if (steps > allowed) {
        regions->left_out++;
        return false;
    }
    regions->steps += steps;
    return true;
}

bool regions_protect(struct regions *regions, const struct region_row *row)
{
    const uint64_t end = range_end(row->address, row->size);
    const struct region_row left = regions->left;
    const struct region_end by = {.ns = row->map_ns, .thread = row->thread, .stack = row->stack};
    regions->calls++;
    if (!may_protect(regions, row->address, end))
        return true;
    for (uint64_t from = row->address; from < end;) {
        const struct place at = find_live(regions, from);
        const struct region_row *found = at_place(regions, at);
        if (!found || found->address >= end)
            break;
        const struct region_row before = *found;
        from = end_of(&before);
        if (before.protection == row->protection)
            continue;
        struct region_row changed =
            piece(&before, before.address > row->address ? before.address : row->address,
                  from < end ? from : end);
        changed.protection = row->protection;
        changed.map_ns = row->map_ns;
        changed.thread = row->thread;
        changed.stack = row->stack;
        changed.moved_from = 0;
        if (!end_part(regions, at, row->address, end, &by))
            return false;
        changed.changed_from = regions->row_count;
        if (!insert_live(regions, &changed))
            return false;
    }
    regions->left = left;
    return true;
}

static bool add_file(struct regions *regions, const char *file, size_t length, uint32_t *index)
{
    *index = 0;
    if (length == 0)
        return true;
    /* Most programs map one file after another, in several pieces. */
    if (regions->file_count != 0) {
        const char *last = regions->files[regions->file_count - 1];
        if (strlen(last) == length && memcmp(last, file, length) == 0) {
            *index = (uint32_t)regions->file_count;
            return true;
        }
    }
    if (!ARRAY_RESERVE(regions->files, regions->file_count, regions->file_capacity))
        return false;
    char *copy = strndup(file, length);
    if (!copy)
        return false;
    regions->files[regions->file_count++] = copy;
    *index = (uint32_t)regions->file_count;
    return true;
}

/* Copies the properties that an mremap keeps from the region before. */
static void take_over(const struct regions *regions, struct region_row *row)
{
    const struct region_row *before = NULL, *left = &regions->left;
    const struct region_row *here = at_place(regions, find_live(regions, row->moved_from));
    if (left->size != 0 && left->unmap_thread == row->thread && left->address <= row->moved_from &&
        row->moved_from < left->address + left->size)
        before = left;
    else if (here && here->address <= row->moved_from)
        before = here;
    if (!before)
        return;
    row->protection = before->protection;
    row->flags = before->flags;
    row->file = before->file;
    row->offset = before->offset + (before->file != 0 ? row->moved_from - before->address : 0);
}

bool regions_map(struct regions *regions, const struct region_row *row, const char *file,
                 size_t file_length)
{
    struct region_row added = *row;
    const uint64_t end = range_end(row->address, row->size);
    if (end == row->address)
        return true;
    added.size = end - row->address;
    added.mapping = ++regions->mappings;
    if (!add_file(regions, file, file_length, &added.file))
        return false;
    if (added.moved_from != 0)
        take_over(regions, &added);
    const struct region_end by = {.ns = row->map_ns, .thread = row->thread, .stack = row->stack};
    regions->calls++;
    return unmap_range(regions, added.address, end, &by) && insert_live(regions, &added);
}

bool regions_each(const struct regions *regions,
                  bool (*visit)(void *context, const struct region_row *row, size_t position,
                                bool live),
                  void *context)
{
    size_t position = 0;
    for (; position < regions->row_count; position++)
        if (!visit(context, &regions->rows[position], position, false))
            return false;
    for (size_t i = 0; i < regions->block_count; i++)
        for (size_t k = 0; k < regions->live[i]->count; k++)
            if (!visit(context, &regions->live[i]->rows[k], position++, true))
                return false;
    return true;
}

const char *regions_file(const struct regions *regions, const struct region_row *row)
{
    return row->file == 0 ? NULL : regions->files[row->file - 1];
}

void regions_free(struct regions *regions)
{
    for (size_t i = 0; i < regions->file_count; i++)
        free(regions->files[i]);
    free(regions->files);
    for (size_t i = 0; i < regions->block_count; i++)
        free(regions->live[i]);
    free(regions->rows);
    free(regions->live);
    *regions = (struct regions){0};
}
