/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/residency.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/trace_codec.h"

const char *residency_class_name(enum residency_class class)
{
    static const char *const names[RESIDENCY_CLASSES] = {
        "live_resident", "headers",        "holes_resident",  "free_pages", "stacks",
        "files",         "arenas",         "other_anonymous", "recorder",   "inherited",
        "unattributed",  "live_untouched", "live_swapped",    "zero_page",  "hugetlb"};
    return names[class];
}

const char *residency_reason_name(enum trace_resident_reason reason)
{
    static const char *const names[TRACE_RESIDENT_REASONS] = {
        "start", "mark", "snapshot", "maximum", "parted", "interval", "end"};
    return names[reason];
}

struct residency *residency_new(const struct trace_scan *scan)
{
    struct residency *residency = calloc(1, sizeof(*residency));
    if (!residency)
        return NULL;
    residency->scan = scan;
    residency->library = scan->library;
    residency->last.shift = scan->library == HEAP_GLIBC ? 8 : 0;
    return residency;
}

static void free_moment(struct residency_moment *moment)
{
    for (size_t i = 0; i < moment->row_count; i++)
        free(moment->rows[i].detail);
    FREE_ALL(moment->rows, moment->sums, moment->coded, moment->pieces);
    *moment = (struct residency_moment){0};
}

void residency_forget_blocks(struct residency *residency)
{
    FREE_ALL(residency->blocks.pairs, residency->blocks.large, residency->blocks.changed,
             residency->blocks.room, residency->blocks.chunks);
    residency->blocks = (struct residency_blocks){.known = false};
}

void residency_free(struct residency *residency)
{
    if (!residency)
        return;
    for (size_t i = 0; i < residency->mapping_count; i++)
        free(residency->mappings[i].name);
    for (size_t i = 0; i < residency->moment_count; i++)
        free_moment(&residency->moments[i]);
    free_moment(&residency->next);
    FREE_ALL(residency->runs.runs, residency->runs_before.runs, residency->mappings,
             residency->bytes);
    last_owners_free(&residency->last);
    free(residency->owners);
    index_map_free(&residency->owner_by_hash);
    free(residency->stack_owners);
    residency_forget_blocks(residency);
    FREE_ALL(residency->inherited, residency->heaps);
    index_map_free(&residency->heap_by_hash);
    FREE_ALL(residency->moments, residency);
}

/* ---- mappings --------------------------------------------------------------------------- */

size_t residency_first_mapping(const struct residency *residency, uint64_t address)
{
    size_t low = 0, high = residency->mapping_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (residency->mappings[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes room for a mapping at `at`. */
static bool insert_mapping(struct residency *residency, size_t at, struct resident_mapping mapping)
{
    if (!mapping.name || !array_grow(&residency->mappings, &residency->mapping_capacity,
                                     residency->mapping_count + 1, sizeof(mapping))) {
        free(mapping.name);
        return false;
    }
    memmove(&residency->mappings[at + 1], &residency->mappings[at],
            (residency->mapping_count - at) * sizeof(mapping));
    residency->mappings[at] = mapping;
    residency->mapping_count++;
    return true;
}

/* Ends what is mapped in [start, end), in part if it reaches beyond. */
static bool cut_mappings(struct residency *residency, uint64_t start, uint64_t end)
{
    size_t at = residency_first_mapping(residency, start), kept = at;
    struct resident_mapping *all = residency->mappings;
    if (at < residency->mapping_count && all[at].start < start && all[at].end > end) {
        struct resident_mapping after = all[at];
        after.start = end;
        after.name = strdup(after.name);
        all[at].end = start;
        return insert_mapping(residency, at + 1, after);
    }
    for (; at < residency->mapping_count && all[at].start < end; at++) {
        if (all[at].start < start)
            all[at].end = start;
        else if (all[at].end > end)
            all[at].start = end;
        else {
            free(all[at].name);
            continue;
        }
        all[kept++] = all[at];
    }
    if (at > kept) {
        memmove(&all[kept], &all[at], (residency->mapping_count - at) * sizeof(*all));
        residency->mapping_count -= at - kept;
    }
    return true;
}

/* The kernel's limit is 65,530 unless it was raised. Pages of further ones are unattributed. */
enum { MAPPINGS_MOST = 1 << 17 };

bool residency_mapping(struct residency *residency, const struct trace_extension *extension)
{
    const uint64_t start = extension->address, end = start + extension->size;
    if (end <= start || end > UINT64_C(1) << 56)
        return true;
    if (!cut_mappings(residency, start, end))
        return false;
    if (extension->flags & TRACE_MAPPING_NONE || residency->mapping_count >= MAPPINGS_MOST)
        return true;
    return insert_mapping(
        residency, residency_first_mapping(residency, start),
        (struct resident_mapping){.start = start,
                                  .end = end,
                                  .flags = (unsigned)extension->flags,
                                  .name = strndup(extension->name.bytes, extension->name.length)});
}

/* ---- runs ------------------------------------------------------------------------------- */

static bool add_run(struct resident_runs *runs, uint64_t page, uint64_t count, uint32_t kind)
{
    struct resident_run *last = runs->count ? &runs->runs[runs->count - 1] : NULL;
    if (last && last->kind == kind && last->page + last->count == page) {
        last->count += count;
        return true;
    }
    if (!ARRAY_GROW(runs->runs, runs->count, runs->capacity))
        return false;
    runs->runs[runs->count++] = (struct resident_run){page, count, kind};
    return true;
}

/* Reads the next run after page *at. Returns false at the end, with *good false at damage. */
static bool next_run(const uint8_t **bytes, const uint8_t *end, uint64_t *at,
                     struct resident_run *run, bool *good)
{
    enum { ADDRESS_BITS = 44 }; /* of a page */
    uint64_t gap, pages;
    if (*bytes == end)
        return false;
    *good = trace_get_varint(bytes, end, &gap) && trace_get_varint(bytes, end, &pages) &&
            pages >> 3 != 0 && (pages & 7) < TRACE_PAGE_CLASSES &&
            gap < UINT64_C(1) << ADDRESS_BITS && pages >> 3 < UINT64_C(1) << ADDRESS_BITS &&
            *at + gap + (pages >> 3) < UINT64_C(1) << ADDRESS_BITS;
    if (!*good)
        return false;
    *run = (struct resident_run){*at + gap, pages >> 3, (uint32_t)(pages & 7)};
    *at = run->page + run->count;
    return true;
}

/* Adds the pages of the moment before from *from on, up to `to`. */
static bool keep_runs(const struct resident_runs *old, size_t *index, uint64_t from, uint64_t to,
                      struct resident_runs *runs)
{
    for (; *index < old->count && old->runs[*index].page < to; ++*index) {
        const struct resident_run *run = &old->runs[*index];
        const uint64_t start = run->page > from ? run->page : from;
        const uint64_t end = run->page + run->count < to ? run->page + run->count : to;
        if (end > start && !add_run(runs, start, end - start, run->kind))
            return false;
        if (run->page + run->count > to)
            break;
    }
    return true;
}

bool residency_apply_runs(struct residency *residency, bool *good)
{
    const struct resident_runs none = {0};
    const struct resident_runs *old =
        residency->next_flags & TRACE_RESIDENT_DELTA ? &residency->runs : &none;
    struct resident_runs runs = {0};
    struct resident_run run;
    const uint8_t *at = residency->bytes, *end = at + residency->length;
    uint64_t page = 0;
    size_t index = 0;
    bool memory = true;
    *good = true;
    for (uint64_t before = 0; memory && next_run(&at, end, &page, &run, good); before = page)
        memory = keep_runs(old, &index, before, run.page, &runs) &&
                 (run.kind == TRACE_PAGE_NONE || add_run(&runs, run.page, run.count, run.kind));
    memory = memory && keep_runs(old, &index, page, UINT64_MAX, &runs);
    if (!memory || !*good) {
        free(runs.runs);
        return memory;
    }
    free(residency->runs.runs);
    residency->runs = runs;
    return true;
}

/* ---- a moment --------------------------------------------------------------------------- */

static uint64_t number_or_zero(uint64_t value)
{
    return value <= INT64_MAX ? value : 0;
}

/* Finds the mapping of the program break. Up to what is mapped behind it, it may have grown since.
 */
static void find_break(struct residency *residency)
{
    enum { GROWS_MOST_LOG2 = 40 };
    residency->break_start = residency->break_size = 0;
    for (size_t i = 0; i < residency->mapping_count; i++) {
        const struct resident_mapping *mapping = &residency->mappings[i];
        if (strcmp(mapping->name, "[heap]") != 0)
            continue;
        const uint64_t next = i + 1 < residency->mapping_count ? mapping[1].start : UINT64_MAX;
        const uint64_t most = mapping->end + (UINT64_C(1) << GROWS_MOST_LOG2);
        if (residency->break_size == 0)
            residency->break_start = mapping->start;
        residency->break_size = (next < most ? next : most) - residency->break_start;
    }
}

/* In a trace that grows, the allocator's library may be seen late. */
static void take_library(struct residency *residency)
{
    if (residency->library == residency->scan->library)
        return;
    residency->library = residency->scan->library;
    last_owners_free(&residency->last);
    residency->last.shift = residency->library == HEAP_GLIBC ? 8 : 0;
}

/* A full moment comes at least each 16th time. */
enum { DELTAS_MOST = 15 };

bool residency_begin(struct residency *residency, const struct trace_extension *extension,
                     uint64_t begin_ns, uint64_t end_ns, const char *mark)
{
    const bool delta = (extension->flags & TRACE_RESIDENT_DELTA) != 0;
    free_moment(&residency->next);
    take_library(residency);
    find_break(residency);
    for (size_t i = 0; i < residency->mapping_count; i++)
        residency->mappings[i].arena = NULL;
    residency->next = (struct residency_moment){
        .begin_ns = begin_ns,
        .end_ns = end_ns,
        .reason = extension->reason < TRACE_RESIDENT_REASONS
                      ? (enum trace_resident_reason)extension->reason
                      : TRACE_RESIDENT_INTERVAL,
        .mark = mark,
        .rss_before = number_or_zero(extension->resident),
        .rss_after = number_or_zero(extension->rss_after),
        .coarse = number_or_zero(extension->coarse) * RESIDENT_PAGE,
        .pss = number_or_zero(extension->pss),
        .lazy_free = number_or_zero(extension->lazy_free),
        .cgroup = number_or_zero(extension->cgroup),
        .cgroup_limit = number_or_zero(extension->cgroup_limit),
        .zero_known = (extension->flags & TRACE_RESIDENT_INDISTINCT) == 0,
    };
    residency->next_number = extension->number;
    residency->next_flags = extension->flags;
    residency->next_bytes = extension->size;
    residency->length = 0;
    /* A delta needs the moment before it. */
    residency->reading =
        extension->size <= TRACE_PAGES_MAX &&
        (extension->flags & ~(uint64_t)TRACE_RESIDENT_FLAGS_KNOWN) == 0 &&
        (!delta || (residency->number != 0 && extension->number == residency->number + 1 &&
                    residency->deltas < DELTAS_MOST));
    residency->deltas = delta ? residency->deltas + 1 : 0;
    return true;
}

bool residency_pages(struct residency *residency, const struct trace_extension *extension)
{
    const size_t length = extension->name.length;
    if (!residency->reading)
        return true;
    if (length > residency->next_bytes - residency->length) {
        residency->reading = false;
        return true;
    }
    if (!array_grow(&residency->bytes, &residency->capacity, residency->length + length + 1, 1))
        return false;
    memcpy(residency->bytes + residency->length, extension->name.bytes, length);
    residency->length += length;
    return true;
}

bool residency_is_whole(const struct residency *residency)
{
    return residency->reading && residency->length == residency->next_bytes;
}

void residency_leave_out(struct residency *residency)
{
    bool good;
    residency->reading = false;
    residency->number = residency_apply_runs(residency, &good) && good ? residency->next_number : 0;
    residency->left_out++;
}

/* ---- owners ----------------------------------------------------------------------------- */

/* Returns the owner of the stack and type. OWNER_NONE: memory is exhausted. */
static uint32_t find_owner(struct residency *residency, uint32_t stack, uint32_t type)
{
    const uint64_t hash = hash_combine(hash_combine(hash_seed(), stack), type);
    size_t probe = index_map_begin(&residency->owner_by_hash, hash);
    uint32_t index;
    while ((index = index_map_next(&residency->owner_by_hash, hash, &probe)) != INDEX_NONE)
        if (residency->owners[index].stack == stack && residency->owners[index].type == type)
            return index;
    /* Owner 0 is none. */
    index = residency->owner_count ? (uint32_t)residency->owner_count : 1;
    if (!ARRAY_RESERVE(residency->owners, index, residency->owner_capacity) ||
        !index_map_insert(&residency->owner_by_hash, hash, index))
        return OWNER_NONE;
    residency->owners[index] = (struct residency_sum){.stack = stack, .type = type};
    residency->owner_count = (size_t)index + 1;
    return index;
}

uint32_t residency_owner(struct residency *residency, uint32_t stack, uint32_t type)
{
    if (stack >= residency->stack_owner_capacity &&
        !ARRAY_RESERVE(residency->stack_owners, stack, residency->stack_owner_capacity))
        return OWNER_NONE;
    struct stack_owner *last = &residency->stack_owners[stack];
    if (last->owner == OWNER_NONE || last->type != type)
        *last = (struct stack_owner){find_owner(residency, stack, type), type};
    return last->owner;
}

void residency_arena_block(struct residency *residency, uint64_t address, const char *arena)
{
    const size_t at = residency_first_mapping(residency, address);
    struct resident_mapping *mapping = &residency->mappings[at];
    if (at == residency->mapping_count || mapping->start > address ||
        (mapping->arena && mapping->arena_block > address))
        return;
    mapping->arena = arena;
    mapping->arena_block = address;
}

bool residency_is_heap(const struct residency *residency, uint64_t address)
{
    const uint64_t number = address / GLIBC_HEAP_SIZE, hash = hash_combine(hash_seed(), number);
    INDEX_MAP_EACH(&residency->heap_by_hash, hash, index)
        if (residency->heaps[index] == number)
            return true;
    return false;
}

/* Notes that glibc has an arena in the 64 MiB of this address. False if memory is exhausted. */
static bool know_heap(struct residency *residency, uint64_t address)
{
    const uint64_t number = address / GLIBC_HEAP_SIZE, hash = hash_combine(hash_seed(), number);
    uint64_t *known = &residency->known[number % KNOWN_HEAPS];
    if (*known == number + 1)
        return true;
    *known = number + 1;
    if (residency_is_heap(residency, address))
        return true;
    if (!ARRAY_GROW(residency->heaps, residency->heap_count, residency->heap_capacity) ||
        !index_map_insert(&residency->heap_by_hash, hash, (uint32_t)residency->heap_count))
        return false;
    residency->heaps[residency->heap_count++] = number;
    return true;
}

bool residency_span_elsewhere(struct residency *residency, enum heap_allocator allocator,
                              uint64_t address, uint64_t size, struct chunk_span *span)
{
    const bool in_break = residency_in_break(residency, address);
    *span = heap_allocator_span(allocator, address, size, in_break);
    if (allocator != HEAP_GLIBC || in_break || residency->mapping_count == 0)
        return true;
    if (!span->mapped)
        return know_heap(residency, address);
    /* One in 256 chunks of an arena lies as if it were mapped by itself. */
    if (residency_is_heap(residency, address))
        *span = heap_allocator_span(allocator, address, size, true);
    return true;
}

/* Notes that the ledger has to look up what is at the address. */
static bool note_changed(struct residency *residency, uint64_t address)
{
    struct residency_blocks *blocks = &residency->blocks;
    enum { CHANGED_MOST = 512 << 10 };
    /* With more, reading all is less work, or takes less memory. */
    blocks->known = blocks->known && blocks->changed_count < blocks->count / 2 &&
                    blocks->changed_count < CHANGED_MOST;
    if (!blocks->known)
        return true;
    if (!ARRAY_GROW(blocks->changed, blocks->changed_count, blocks->changed_capacity))
        return false;
    blocks->changed[blocks->changed_count++] = address;
    return true;
}

bool residency_allocated(struct residency *residency, uint64_t address,
                         const struct live_block *block)
{
    /* One that ended since the last ledger was noted. */
    return (block->state == BLOCK_FREED && block->alloc_ns > residency->blocks.ns) ||
           note_changed(residency, address);
}

bool residency_changed(struct residency *residency, const struct live_block *block)
{
    return block->order > residency->blocks.order || note_changed(residency, block->address);
}

bool residency_freed(struct residency *residency, const struct live_block *block)
{
    struct chunk_span span;
    if (!residency_changed(residency, block) ||
        !residency_span(residency, residency->library, block->address, block->size, &span))
        return false;
    if (residency->library == HEAP_GLIBC && span.mapped)
        return true; /* its pages have gone with it */
    const uint32_t owner = residency_owner(residency, block->stack, block->type);
    return owner != OWNER_NONE && last_owners_paint(&residency->last, span.low, span.high, owner);
}
