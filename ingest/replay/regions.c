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

/* Returns the index of the first live region that ends after `address`. */
static size_t find_live(const struct regions *regions, uint64_t address)
{
    size_t low = 0, high = regions->live_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct region_row *row = &regions->live[middle];
        if (row->address + row->size > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool insert_live(struct regions *regions, size_t at, const struct region_row *row)
{
    if (!array_reserve(&regions->live, &regions->live_capacity, regions->live_count + 1,
                       sizeof(*regions->live)))
        return false;
    memmove(&regions->live[at + 1], &regions->live[at],
            (regions->live_count - at) * sizeof(*regions->live));
    regions->live[at] = *row;
    regions->live_count++;
    return true;
}

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

/* Ends the part of live region `at` that lies in [begin, end). The rest stays live. */
static bool end_part(struct regions *regions, size_t at, uint64_t begin, uint64_t end,
                     const struct region_end *by)
{
    const struct region_row row = regions->live[at];
    const uint64_t row_end = row.address + row.size;
    const uint64_t from = begin > row.address ? begin : row.address;
    const uint64_t to = end < row_end ? end : row_end;
    if (!array_reserve(&regions->rows, &regions->row_capacity, regions->row_count + 1,
                       sizeof(*regions->rows)))
        return false;
    struct region_row ended = piece(&row, from, to);
    ended.unmap_ns = by->ns;
    ended.unmap_thread = by->thread;
    ended.unmap_stack = by->stack;
    ended.resident = from == begin && to == end ? by->resident : 0;
    regions->rows[regions->row_count++] = regions->left = ended;
    memmove(&regions->live[at], &regions->live[at + 1],
            (regions->live_count - at - 1) * sizeof(*regions->live));
    regions->live_count--;
    const struct region_row before = piece(&row, row.address, from),
                            behind = piece(&row, to, row_end);
    return (before.size == 0 || insert_live(regions, at, &before)) &&
           (behind.size == 0 || insert_live(regions, at + (before.size != 0), &behind));
}

bool regions_unmap(struct regions *regions, uint64_t address, uint64_t size,
                   const struct region_end *by)
{
    const uint64_t end = range_end(address, size);
    for (;;) {
        size_t at = find_live(regions, address);
        if (at == regions->live_count || regions->live[at].address >= end)
            return true;
        if (!end_part(regions, at, address, end, by))
            return false;
    }
}

bool regions_protect(struct regions *regions, const struct region_row *row)
{
    const uint64_t end = range_end(row->address, row->size);
    const struct region_row left = regions->left;
    const struct region_end by = {.ns = row->map_ns, .thread = row->thread, .stack = row->stack};
    for (uint64_t from = row->address; from < end;) {
        const size_t at = find_live(regions, from);
        if (at == regions->live_count || regions->live[at].address >= end)
            break;
        const struct region_row before = regions->live[at];
        from = before.address + before.size;
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
        if (!insert_live(regions, find_live(regions, changed.address), &changed))
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
    if (!array_reserve(&regions->files, &regions->file_capacity, regions->file_count + 1,
                       sizeof(*regions->files)))
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
    size_t at = find_live(regions, row->moved_from);
    if (left->size != 0 && left->unmap_thread == row->thread && left->address <= row->moved_from &&
        row->moved_from < left->address + left->size)
        before = left;
    else if (at < regions->live_count && regions->live[at].address <= row->moved_from)
        before = &regions->live[at];
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
    return regions_unmap(regions, added.address, added.size, &by) &&
           insert_live(regions, find_live(regions, added.address), &added);
}

const struct region_row *regions_row(const struct regions *regions, size_t index)
{
    return index < regions->row_count ? &regions->rows[index]
                                      : &regions->live[index - regions->row_count];
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
    free(regions->rows);
    free(regions->live);
    *regions = (struct regions){0};
}
