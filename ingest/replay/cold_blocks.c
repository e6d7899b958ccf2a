/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/cold_blocks.h"

#include <stdlib.h>

#include "ingest/base/array.h"
#include "schemas/trace_coding.h"

enum { PAGE_BLOCKS = 32, SEGMENTS_MOST = 64, PACKED_MOST = 128 };

struct page {
    uint64_t address; /* of its first block */
    uint64_t offset;  /* of its bytes */
    uint32_t live;    /* a bit for each block */
};

struct segment {
    struct page *pages;
    size_t page_count, page_capacity;
    uint8_t *bytes;
    size_t length, capacity;
    size_t live;
    uint64_t last; /* address */
};

struct cold_blocks {
    struct segment segments[SEGMENTS_MOST];
    size_t segment_count, live;
    /* The page that was read last, and the block in it that was found last. */
    struct live_block blocks[PAGE_BLOCKS];
    size_t segment, page, found;
    bool read;
};

struct cold_blocks *cold_blocks_new(void)
{
    return calloc(1, sizeof(struct cold_blocks));
}

static void free_segment(struct segment *segment)
{
    free(segment->pages);
    free(segment->bytes);
    *segment = (struct segment){.live = 0};
}

void cold_blocks_free(struct cold_blocks *cold)
{
    for (size_t i = 0; cold && i < cold->segment_count; i++)
        free_segment(&cold->segments[i]);
    free(cold);
}

/* ---- packed blocks ------------------------------------------------------------------------- */

/* Numbers that neighbours often have in common. */
enum { OWN_NUMBERS = 1, REALLOCATED = 2, NAMED = 4, BY_RULES = 8, LISTED = 16 };

static bool has_same_numbers(const struct live_block *one, const struct live_block *other)
{
    return one->count == other->count && one->stack == other->stack &&
           one->thread == other->thread && one->arena == other->arena && one->type == other->type &&
           one->kind == other->kind && one->alignment == other->alignment;
}

static uint8_t *put_change(uint8_t *to, uint64_t value, uint64_t before)
{
    return trace_put_varint(to, trace_zigzag((int64_t)(value - before)));
}

/* Writes a block that comes after `before`. Returns the end of its bytes. */
static uint8_t *pack(uint8_t *to, const struct live_block *block, const struct live_block *before)
{
    const bool own = !has_same_numbers(block, before);
    *to++ = (uint8_t)((own ? OWN_NUMBERS : 0) | (block->realloc_of ? REALLOCATED : 0) |
                      (block->named ? NAMED : 0) | (block->type_by_rules ? BY_RULES : 0) |
                      (block->unknown_listed ? LISTED : 0));
    to = trace_put_varint(to, block->address - before->address);
    to = trace_put_varint(to, block->size);
    to = put_change(to, block->alloc_ns, before->alloc_ns);
    to = put_change(to, block->order, before->order);
    if (block->realloc_of)
        to = trace_put_varint(to, block->realloc_of);
    if (!own)
        return to;
    to = trace_put_varint(trace_put_varint(to, block->count), block->stack);
    to = trace_put_varint(trace_put_varint(to, block->thread), block->arena);
    to = trace_put_varint(to, block->type);
    *to++ = block->kind;
    *to++ = block->alignment;
    return to;
}

static uint64_t number(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    trace_get_varint(at, end, &value);
    return value;
}

static uint64_t changed(const uint8_t **at, const uint8_t *end, uint64_t before)
{
    return before + (uint64_t)trace_unzigzag(number(at, end));
}

/* Reads the block that comes after `before` into `block`. */
static void unpack(const uint8_t **at, const uint8_t *end, const struct live_block *before,
                   struct live_block *block)
{
    const unsigned flags = *(*at)++;
    *block = *before;
    block->state = BLOCK_LIVE;
    block->named = (flags & NAMED) != 0;
    block->type_by_rules = (flags & BY_RULES) != 0;
    block->unknown_listed = (flags & LISTED) != 0;
    block->address += number(at, end);
    block->size = number(at, end);
    block->alloc_ns = changed(at, end, before->alloc_ns);
    block->order = changed(at, end, before->order);
    block->realloc_of = flags & REALLOCATED ? number(at, end) : 0;
    if (!(flags & OWN_NUMBERS))
        return;
    block->count = (uint32_t)number(at, end);
    block->stack = (uint32_t)number(at, end);
    block->thread = (uint32_t)number(at, end);
    block->arena = (uint32_t)number(at, end);
    block->type = (uint32_t)number(at, end);
    block->kind = *(*at)++;
    block->alignment = *(*at)++;
}

/* Reads a page of a segment, which has up to PAGE_BLOCKS blocks. */
static void unpack_page(const struct segment *segment, size_t page, struct live_block *blocks)
{
    const uint8_t *at = segment->bytes + segment->pages[page].offset;
    const uint8_t *end =
        segment->bytes +
        (page + 1 < segment->page_count ? segment->pages[page + 1].offset : segment->length);
    struct live_block before = {.address = 0};
    for (size_t i = 0; at < end; before = blocks[i++])
        unpack(&at, end, &before, &blocks[i]);
}

/* ---- segments ------------------------------------------------------------------------------ */

static bool pack_all(struct segment *segment, cold_blocks_source *source, void *context)
{
    static const struct live_block none = {.address = 0};
    struct live_block before = none;
    const struct live_block *block;
    for (size_t i = 0; (block = source(context)); i++) {
        if (!array_grow(&segment->bytes, &segment->capacity, segment->length + PACKED_MOST, 1) ||
            !ARRAY_GROW(segment->pages, segment->page_count, segment->page_capacity))
            return false;
        if (i % PAGE_BLOCKS == 0) {
            segment->pages[segment->page_count++] =
                (struct page){block->address, segment->length, 0};
            before = none;
        }
        segment->pages[segment->page_count - 1].live |= UINT32_C(1) << i % PAGE_BLOCKS;
        uint8_t *to = segment->bytes + segment->length;
        segment->length += (size_t)(pack(to, block, &before) - to);
        segment->live++;
        segment->last = block->address;
        before = *block;
    }
    return true;
}

/* Two segments that are passed by address. */
struct merge {
    const struct segment *segments[2];
    struct live_block blocks[2][PAGE_BLOCKS];
    size_t places[2], read[2]; /* read: pages, from 1 */
    int given;                 /* of which segment the last block was; -1: of none */
};

/* Returns the block at the first place from the merge's on, NULL: there is none. */
static const struct live_block *merge_peek(struct merge *merge, int which)
{
    const struct segment *segment = merge->segments[which];
    size_t *place = &merge->places[which];
    for (; *place < segment->page_count * PAGE_BLOCKS; ++*place) {
        const size_t page = *place / PAGE_BLOCKS, i = *place % PAGE_BLOCKS;
        if (merge->read[which] != page + 1)
            unpack_page(segment, page, merge->blocks[which]);
        merge->read[which] = page + 1;
        if (segment->pages[page].live >> i & 1)
            return &merge->blocks[which][i];
    }
    return NULL;
}

static const struct live_block *merge_next(void *context)
{
    struct merge *merge = context;
    if (merge->given >= 0)
        merge->places[merge->given]++;
    const struct live_block *one = merge_peek(merge, 0), *other = merge_peek(merge, 1);
    merge->given = !other || (one && one->address < other->address) ? 0 : 1;
    return merge->given == 0 ? one : other;
}

static bool merge_last(struct cold_blocks *cold)
{
    struct segment *last = &cold->segments[cold->segment_count - 2], merged = {.live = 0};
    struct merge *merge = calloc(1, sizeof(*merge));
    if (merge) {
        *merge = (struct merge){.segments = {last, last + 1}, .given = -1};
        if (!pack_all(&merged, merge_next, merge)) {
            free_segment(&merged);
            free(merge);
            return false;
        }
        free_segment(last);
        free_segment(last + 1);
        *last = merged;
        cold->segment_count--;
        free(merge);
    }
    return merge != NULL;
}

bool cold_blocks_add(struct cold_blocks *cold, cold_blocks_source *source, void *context)
{
    struct segment added = {.live = 0};
    size_t kept = 0;
    cold->read = false;
    if (!pack_all(&added, source, context)) {
        free_segment(&added);
        return false;
    }
    for (size_t i = 0; i < cold->segment_count; i++)
        if (cold->segments[i].live > 0)
            cold->segments[kept++] = cold->segments[i];
        else
            free_segment(&cold->segments[i]);
    cold->segments[kept] = added;
    cold->segment_count = kept + 1;
    cold->live += added.live;
    while (cold->segment_count > 1 && cold->segments[cold->segment_count - 2].live <
                                          2 * cold->segments[cold->segment_count - 1].live)
        if (!merge_last(cold))
            return false;
    return true;
}

/* ---- one block ----------------------------------------------------------------------------- */

static void read_page(struct cold_blocks *cold, size_t segment, size_t page)
{
    if (cold->read && cold->segment == segment && cold->page == page)
        return;
    unpack_page(&cold->segments[segment], page, cold->blocks);
    cold->segment = segment;
    cold->page = page;
    cold->read = true;
}

const struct live_block *cold_blocks_find(struct cold_blocks *cold, uint64_t address)
{
    for (size_t i = 0; i < cold->segment_count; i++) {
        const struct segment *segment = &cold->segments[i];
        size_t at = 0, block = 0;
        if (address > segment->last)
            continue;
        ARRAY_BISECT(at, segment->page_count, segment->pages[middle].address <= address)
        if (at == 0 || segment->pages[at - 1].live == 0)
            continue;
        read_page(cold, i, at - 1);
        const uint32_t live = segment->pages[at - 1].live;
        while (block < PAGE_BLOCKS &&
               (!(live >> block & 1) || cold->blocks[block].address != address))
            block++;
        cold->found = block;
        if (block < PAGE_BLOCKS)
            return &cold->blocks[block];
    }
    return NULL;
}

void cold_blocks_take(struct cold_blocks *cold)
{
    struct segment *segment = &cold->segments[cold->segment];
    segment->pages[cold->page].live &= ~(UINT32_C(1) << cold->found);
    segment->live--;
    cold->live--;
}

const struct live_block *cold_blocks_next(struct cold_blocks *cold, size_t *place)
{
    size_t before = 0;
    for (size_t i = 0; i < cold->segment_count; i++) {
        const struct segment *segment = &cold->segments[i];
        const size_t end = before + segment->page_count * PAGE_BLOCKS;
        for (; *place < end; ++*place) {
            const size_t page = (*place - before) / PAGE_BLOCKS;
            const size_t block = (*place - before) % PAGE_BLOCKS;
            if (!(segment->pages[page].live >> block & 1))
                continue;
            read_page(cold, i, page);
            ++*place;
            return &cold->blocks[block];
        }
        before = end;
    }
    return NULL;
}

size_t cold_blocks_count(const struct cold_blocks *cold)
{
    return cold->live;
}

size_t cold_blocks_bytes(const struct cold_blocks *cold)
{
    size_t bytes = 0;
    for (size_t i = 0; i < cold->segment_count; i++)
        bytes += cold->segments[i].length + cold->segments[i].page_count * sizeof(struct page);
    return bytes;
}
