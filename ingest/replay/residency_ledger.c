/* SPDX-License-Identifier: BSD-2-Clause */
/* The ledger of a moment: goes through the pages in memory and the live blocks by address. */
#include "ingest/replay/residency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/trace_codec.h"

/* ---- ledger ----------------------------------------------------------------------------- */

struct special {
    uint64_t start, end;
    const char *detail;
};

struct ledger {
    struct residency *residency;
    struct residency_moment *moment;
    enum heap_allocator allocator;
    size_t taken;          /* of the blocks, those that chunks were made of */
    size_t first, last;    /* chunks that are at hand: from the first that ends after the place */
    uint64_t before;       /* end of the last one */
    size_t overlaps;       /* chunks that overlap, which no allocator's do */
    uint64_t seen, unseen; /* chunks that have ended: in memory, at least in part, and not */
    struct special *own, *stacks; /* by address; they do not overlap */
    size_t own_count, stack_count;
    uint64_t bytes[RESIDENCY_CLASSES];
    bool huge, shared; /* the pages at hand */
    uint64_t holes;    /* intervals */
    uint64_t known;    /* bytes of holes whose last owner is known */
    bool memory;       /* false: it is exhausted */
    char mapping[40];  /* name of one without a name: where it lies */
};

/* ---- blocks ----------------------------------------------------------------------------- */

/* A block so large has its size and owner elsewhere. */
#define LARGE_BLOCK UINT32_MAX

/* Makes the pair of a block. False if memory is exhausted. */
static bool make_pair(struct residency *residency, const struct live_block *block,
                      struct number_pair *pair)
{
    struct residency_blocks *blocks = &residency->blocks;
    uint64_t owner = residency_owner(residency, block->stack, block->type);
    uint64_t size = block->size;
    if (owner == OWNER_NONE)
        return false;
    if (size >= LARGE_BLOCK) {
        if (!ARRAY_GROW(blocks->large, blocks->large_count, blocks->large_capacity))
            return false;
        blocks->large[blocks->large_count] = (struct number_pair){size, owner};
        size = LARGE_BLOCK;
        owner = blocks->large_count++;
    }
    *pair = (struct number_pair){block->address, size << 32 | owner};
    return true;
}

/* Merges the pairs, by address, into those of the blocks. */
static bool merge_pairs(struct residency_blocks *blocks, const struct number_pair *added,
                        size_t count)
{
    size_t from = blocks->count, to = from + count;
    if (!array_grow(&blocks->pairs, &blocks->capacity, to, sizeof(*added)))
        return false;
    blocks->count = to;
    while (count > 0)
        if (from > 0 && blocks->pairs[from - 1].key > added[count - 1].key)
            blocks->pairs[--to] = blocks->pairs[--from];
        else
            blocks->pairs[--to] = added[--count];
    return true;
}

/* Reads the blocks at the changed addresses. Most of them are where one was before. */
static bool read_changed(struct residency *residency, const struct live_table *heap)
{
    enum { AHEAD = 16 };
    struct residency_blocks *blocks = &residency->blocks;
    const uint64_t *changed = blocks->changed;
    const size_t count = blocks->changed_count, old = blocks->count;
    size_t at = 0, kept = 0, added_count = 0;
    if (!array_grow(&blocks->room, &blocks->room_capacity, 2 * count, sizeof(*blocks->room)))
        return false;
    sort_numbers(blocks->changed, blocks->room, count);
    struct number_pair *pairs = blocks->pairs, *added = (struct number_pair *)blocks->room, pair;
    for (size_t i = 0; i < count; i++) {
        live_table_prefetch(heap, changed[i + AHEAD < count ? i + AHEAD : i]);
        if (i > 0 && changed[i] == changed[i - 1])
            continue;
        for (; at < old && pairs[at].key < changed[i]; at++)
            pairs[kept++] = pairs[at];
        const bool was = at < old && pairs[at].key == changed[i];
        const struct live_block *block = live_table_live(heap, changed[i]);
        at += was;
        if (!block)
            continue;
        if (!make_pair(residency, block, &pair))
            return false;
        if (was)
            pairs[kept++] = pair;
        else
            added[added_count++] = pair;
    }
    if (kept < at && at < old)
        memmove(pairs + kept, pairs + at, (old - at) * sizeof(*pairs));
    blocks->count = kept + old - at;
    return merge_pairs(blocks, added, added_count);
}

/* Brings the blocks up to date. */
static bool read_blocks(struct residency *residency, const struct live_table *heap)
{
    struct residency_blocks *blocks = &residency->blocks;
    const struct live_block *block;
    bool good = true;
    if (blocks->known && blocks->large_count <= blocks->count / 16 + 1024)
        good = read_changed(residency, heap);
    else {
        blocks->count = blocks->large_count = 0;
        for (size_t at = 0; good && (block = live_table_next(heap, &at));)
            good = ARRAY_GROW(blocks->pairs, blocks->count, blocks->capacity) &&
                   make_pair(residency, block, &blocks->pairs[blocks->count++]);
        sort_pairs(blocks->pairs, blocks->count);
    }
    blocks->changed_count = 0;
    blocks->known = true;
    return good;
}

/* Makes the chunk of the next block: what the allocator has around it, by its rules. */
static bool take_block(struct ledger *ledger)
{
    struct residency *residency = ledger->residency;
    struct residency_blocks *blocks = &residency->blocks;
    struct chunk_span span;
    if (ledger->taken == blocks->count || !ledger->memory)
        return false;
    const struct number_pair *pair = &blocks->pairs[ledger->taken++];
    uint64_t size = pair->value >> 32, owner = pair->value & UINT32_MAX;
    if (size == LARGE_BLOCK) {
        size = blocks->large[owner].key;
        owner = blocks->large[owner].value;
    }
    if (ledger->last == blocks->chunk_capacity && ledger->first >= ledger->last / 2 &&
        ledger->first > 0) {
        ledger->last -= ledger->first;
        memmove(blocks->chunks, blocks->chunks + ledger->first,
                ledger->last * sizeof(*blocks->chunks));
        ledger->first = 0;
    }
    ledger->memory = residency_span(residency, ledger->allocator, pair->key, size, &span) &&
                     ARRAY_GROW(blocks->chunks, ledger->last, blocks->chunk_capacity);
    if (!ledger->memory)
        return false;
    const uint64_t low = span.low < ledger->before ? ledger->before : span.low;
    ledger->overlaps += span.low < ledger->before;
    ledger->before = span.high > low ? span.high : low;
    blocks->chunks[ledger->last++] = (struct resident_chunk){.low = low,
                                                             .high = ledger->before,
                                                             .address = pair->key,
                                                             .end = pair->key + size,
                                                             .owner = (uint32_t)owner};
    residency->owners[owner].live_count++;
    residency->owners[owner].live_bytes += size;
    return true;
}

/* Returns the chunk `ahead` behind the first, or NULL. Valid until the next call. */
static struct resident_chunk *chunk_at(struct ledger *ledger, size_t ahead)
{
    while (ledger->last - ledger->first <= ahead)
        if (!take_block(ledger))
            return NULL;
    return &ledger->residency->blocks.chunks[ledger->first + ahead];
}

static void end_chunk(struct ledger *ledger)
{
    const struct resident_chunk *chunk = &ledger->residency->blocks.chunks[ledger->first++];
    ledger->seen += chunk->seen;
    ledger->unseen += !chunk->seen && chunk->end > chunk->address;
}

/* Ends the chunks before the place. Returns the first of the others, NULL: there is none. */
static struct resident_chunk *chunk_from(struct ledger *ledger, uint64_t place)
{
    struct resident_chunk *chunk;
    while ((chunk = chunk_at(ledger, 0)) && chunk->high <= place)
        end_chunk(ledger);
    return chunk;
}

/* Returns true if blocks of the heap lie in the mapping. */
static bool has_heap(const struct ledger *ledger, const struct resident_mapping *mapping)
{
    const struct residency_blocks *blocks = &ledger->residency->blocks;
    size_t at = 0;
    ARRAY_BISECT(at, blocks->count, blocks->pairs[middle].key < mapping->start)
    return at < blocks->count && blocks->pairs[at].key < mapping->end;
}

/* ---- classes ---------------------------------------------------------------------------- */

ARRAY_ORDER(compare_special, struct special, ORDER(a->start, b->start))

/* Returns the first that ends after the address. */
static const struct special *special_at(const struct special *list, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count ? &list[low] : NULL;
}

/* So many classes with a detail are kept apart. */
enum { ROWS_MOST = 2048 };

static void add_row(struct ledger *ledger, enum residency_class class, const char *detail,
                    uint64_t bytes)
{
    struct residency_moment *moment = ledger->moment;
    ledger->bytes[class] += bytes;
    if (bytes == 0)
        return;
    if (moment->row_count >= ROWS_MOST)
        detail = "";
    for (size_t i = moment->row_count; i-- > 0;)
        if (moment->rows[i].class == class && strcmp(moment->rows[i].detail, detail) == 0) {
            moment->rows[i].bytes += bytes;
            return;
        }
    char *copy = strdup(detail);
    if (!copy || !ARRAY_GROW(moment->rows, moment->row_count, moment->row_capacity)) {
        free(copy);
        ledger->memory = false;
        return;
    }
    moment->rows[moment->row_count++] =
        (struct residency_row){class, copy, bytes, RESIDENCY_NO_BLOCKS};
}

static void note_last(void *context, uint32_t owner, uint64_t bytes)
{
    struct ledger *ledger = context;
    if (owner == OWNER_NONE)
        return;
    ledger->residency->owners[owner].last_owned += bytes;
    ledger->known += bytes;
}

#define SHARED_PAGES "shared with the parent, or another process"

/* Returns true if the address was mapped at the first moment of a forked process. */
static bool is_inherited(const struct residency *residency, uint64_t address)
{
    size_t at = 0;
    ARRAY_BISECT(at, residency->inherited_count, residency->inherited[middle].value <= address)
    return at < residency->inherited_count && residency->inherited[at].key <= address;
}

/* Counts free memory of the allocator, on pages with blocks or without. Returns the bytes that are
 * known to be free. */
static uint64_t add_hole(struct ledger *ledger, uint64_t start, uint64_t end, bool whole)
{
    const struct residency *residency = ledger->residency;
    if (end <= start)
        return 0;
    if (residency->late || is_inherited(residency, start)) {
        add_row(ledger, residency->late ? RESIDENCY_UNATTRIBUTED : RESIDENCY_INHERITED,
                residency->late  ? residency->late
                : ledger->shared ? SHARED_PAGES
                                 : "heap: blocks of the parent, or free",
                end - start);
        return 0;
    }
    const uint64_t known = ledger->known;
    last_owners_ask(&ledger->residency->last, start, end, note_last, ledger);
    ledger->holes += !whole;
    if (whole && ledger->allocator != HEAP_GLIBC && !ledger->huge) {
        /* Pages of size classes on which no block has been: only the allocator can have touched
         * them, for its own data. */
        const uint64_t free_bytes = ledger->known - known;
        ledger->bytes[RESIDENCY_FREE_PAGES] += free_bytes;
        ledger->bytes[RESIDENCY_HEADERS] += end - start - free_bytes;
    } else
        ledger->bytes[whole ? RESIDENCY_FREE_PAGES : RESIDENCY_HOLES_RESIDENT] += end - start;
    return end - start;
}

/* Returns the module that has the address, with what lies behind its file, or NULL. */
static const char *module_at(const struct ledger *ledger, uint64_t address)
{
    const struct trace_scan *scan = ledger->residency->scan;
    for (size_t i = 0; i < scan->module_count; i++)
        if (address >= scan->modules[i].start && address < scan->modules[i].end)
            return scan->modules[i].path;
    return NULL;
}

/* Returns the class of a page of a mapping in which no block lies, and its detail. *end is reduced
 * to where that may change. */
static enum residency_class class_of(struct ledger *ledger, uint64_t page, size_t index,
                                     uint64_t *end, const char **detail)
{
    const struct residency *residency = ledger->residency;
    const struct resident_mapping *mapping = &residency->mappings[index];
    const struct special *own = special_at(ledger->own, ledger->own_count, page);
    const struct special *stack = special_at(ledger->stacks, ledger->stack_count, page);
    *detail = mapping->name;
    if (mapping->flags & TRACE_MAPPING_RECORDER)
        return RESIDENCY_RECORDER;
    if (strcmp(mapping->name, "[stack]") == 0)
        return RESIDENCY_STACKS;
    if (strcmp(mapping->name, "[heap]") == 0)
        return ledger->allocator == HEAP_GLIBC || ledger->allocator == HEAP_TCMALLOC
                   ? RESIDENCY_FREE_PAGES
                   : RESIDENCY_OTHER_ANONYMOUS;
    if (strcmp(mapping->name, "/dev/zero (deleted)") == 0) {
        *detail = "shared memory";
        return RESIDENCY_OTHER_ANONYMOUS;
    }
    if (mapping->name[0] == '/' || strcmp(mapping->name, "[vdso]") == 0)
        return RESIDENCY_FILES;
    if (own && own->start <= page) {
        *end = own->end < *end ? own->end : *end;
        return RESIDENCY_RECORDER;
    }
    if (own && own->start < *end)
        *end = own->start;
    if (stack && stack->start <= page) {
        *end = stack->end < *end ? stack->end : *end;
        *detail = stack->detail;
        return RESIDENCY_STACKS;
    }
    if (stack && stack->start < *end)
        *end = stack->start;
    /* The program may give any anonymous memory a name, that of its allocator, too. */
    const bool named = strncmp(mapping->name, "[anon", 5) == 0;
    if (mapping->name[0] == '[' && !named)
        return RESIDENCY_OTHER_ANONYMOUS;
    /* Zeroed data of a module lies behind its file. */
    const struct resident_mapping *before = index > 0 ? mapping - 1 : NULL;
    const char *module = module_at(ledger, page);
    if (module) {
        if (*end > page + RESIDENT_PAGE)
            *end = page + RESIDENT_PAGE;
        /* The kernel's name of the file, if it is mapped just before. */
        *detail = before && before->end == mapping->start && before->name[0] == '/' ? before->name
                                                                                    : module;
        return strstr(module, "/libmprof") ? RESIDENCY_RECORDER : RESIDENCY_FILES;
    }
    if (before && before->end == mapping->start && before->name[0] == '/' &&
        (before->flags & (TRACE_MAPPING_WRITE | TRACE_MAPPING_SHARED)) == TRACE_MAPPING_WRITE &&
        !has_heap(ledger, mapping) && mapping->end - mapping->start <= GLIBC_HEAP_SIZE) {
        *detail = before->name;
        return before->flags & TRACE_MAPPING_RECORDER ? RESIDENCY_RECORDER : RESIDENCY_FILES;
    }
    if (ledger->allocator == HEAP_GLIBC) {
        const uint64_t next = (page / GLIBC_HEAP_SIZE + 1) * GLIBC_HEAP_SIZE;
        *end = next < *end ? next : *end;
        if (residency_is_heap(residency, page))
            return RESIDENCY_FREE_PAGES;
    } else if (ledger->allocator != HEAP_UNKNOWN && has_heap(ledger, mapping))
        return RESIDENCY_FREE_PAGES;
    if (mapping->arena) {
        *detail = mapping->arena;
        return RESIDENCY_ARENAS;
    }
    if (named)
        return RESIDENCY_OTHER_ANONYMOUS;
    const char *mapper =
        residency->mapper ? residency->mapper(residency->mapper_context, page, end) : NULL;
    if (residency->scan->linked && residency->scan->preloaded)
        snprintf(ledger->mapping, sizeof(ledger->mapping), "%s, linked into the program",
                 residency->scan->linked);
    else
        snprintf(ledger->mapping, sizeof(ledger->mapping), "%" PRIx64 "-%" PRIx64, mapping->start,
                 mapping->end);
    *detail = mapper ? mapper : ledger->mapping;
    return RESIDENCY_OTHER_ANONYMOUS;
}

/* Counts present pages without blocks, all of one mapping (`index`; SIZE_MAX: of none). */
static void add_empty(struct ledger *ledger, uint64_t start, uint64_t end, size_t index)
{
    if (index == SIZE_MAX) {
        add_row(ledger, RESIDENCY_UNATTRIBUTED, "in no known mapping", end - start);
        return;
    }
    while (start < end) {
        const char *detail;
        uint64_t to = end;
        enum residency_class class = class_of(ledger, start, index, &to, &detail);
        if (to <= start)
            to = end;
        if (ledger->shared && class == RESIDENCY_OTHER_ANONYMOUS &&
            is_inherited(ledger->residency, start)) {
            class = RESIDENCY_INHERITED;
            detail = SHARED_PAGES;
        }
        if (class == RESIDENCY_FREE_PAGES)
            add_hole(ledger, start, to, true);
        else
            add_row(ledger, class, class == RESIDENCY_RECORDER ? "" : detail, to - start);
        start = to;
    }
}

static uint64_t overlap(uint64_t one_start, uint64_t one_end, uint64_t start, uint64_t end)
{
    const uint64_t low = one_start > start ? one_start : start;
    const uint64_t high = one_end < end ? one_end : end;
    return high > low ? high - low : 0;
}

/* Counts the part of a chunk on present pages. */
static void add_chunk(struct ledger *ledger, struct resident_chunk *chunk, uint64_t start,
                      uint64_t end)
{
    const uint64_t whole = overlap(chunk->low, chunk->high, start, end);
    const uint64_t asked = overlap(chunk->address, chunk->end, start, end);
    struct residency_sum *owner = &ledger->residency->owners[chunk->owner];
    const uint64_t payload = asked < whole ? asked : whole;
    owner->resident += payload;
    owner->headers += whole - payload;
    ledger->bytes[RESIDENCY_LIVE_RESIDENT] += payload;
    ledger->bytes[RESIDENCY_HEADERS] += whole - payload;
    if (ledger->huge)
        ledger->moment->live_huge += payload;
    chunk->seen = chunk->seen || payload > 0;
}

/* Gaps between chunks that are too short for a block are the allocator's. */
enum { SHORTEST_CHUNK = 32 };

/* Counts one present page in which chunks begin or end. */
static void add_mixed(struct ledger *ledger, uint64_t page)
{
    const uint64_t end = page + RESIDENT_PAGE;
    uint64_t at = page, free_bytes = 0;
    struct residency_sum *owners = ledger->residency->owners;
    struct resident_chunk *chunk;
    size_t count = 0;
    for (; (chunk = chunk_at(ledger, count)) && chunk->low < end; count++) {
        const uint64_t low = chunk->low > page ? chunk->low : page;
        const uint64_t high = chunk->high < end ? chunk->high : end;
        if (high <= at)
            continue;
        if (low > at && low - at < SHORTEST_CHUNK && at > page)
            ledger->bytes[RESIDENCY_HEADERS] += low - at;
        else if (low > at)
            free_bytes += add_hole(ledger, at, low, false);
        add_chunk(ledger, chunk, low, high);
        at = high;
    }
    free_bytes += add_hole(ledger, at, end, false);
    const struct resident_chunk *chunks = chunk_at(ledger, 0);
    if (!chunks || free_bytes == 0)
        return;
    owners[chunks[0].owner].pinned_pages++;
    /* The first one gets what is left of the shares. */
    for (size_t i = 0; i < count; i++)
        owners[chunks[i].owner].pinned += free_bytes / count + (i == 0 ? free_bytes % count : 0);
}

static void add_present(struct ledger *ledger, uint64_t start, uint64_t end, size_t index)
{
    for (uint64_t at = start; at < end;) {
        struct resident_chunk *chunk = chunk_from(ledger, at);
        uint64_t to = end;
        if (!chunk || chunk->low >= at + RESIDENT_PAGE) {
            if (chunk && chunk->low < end)
                to = chunk->low - chunk->low % RESIDENT_PAGE;
            add_empty(ledger, at, to, index);
        } else if (chunk->low <= at && chunk->high >= at + RESIDENT_PAGE) {
            if (chunk->high < end)
                to = chunk->high - chunk->high % RESIDENT_PAGE;
            add_chunk(ledger, chunk, at, to);
        } else {
            to = at + RESIDENT_PAGE;
            add_mixed(ledger, at);
        }
        at = to;
    }
}

static void add_swapped(struct ledger *ledger, uint64_t start, uint64_t end)
{
    const struct resident_chunk *chunk;
    for (uint64_t at = start; (chunk = chunk_from(ledger, at)) && chunk->low < end;) {
        const uint64_t bytes = overlap(chunk->address, chunk->end, start, end);
        ledger->residency->owners[chunk->owner].swapped += bytes;
        ledger->bytes[RESIDENCY_LIVE_SWAPPED] += bytes;
        if (chunk->high > end)
            return;
        at = chunk->high;
    }
}

/* Counts a part of a run that lies in one mapping, or in none. */
static void add_part(struct ledger *ledger, uint64_t start, uint64_t end, uint32_t kind,
                     size_t index)
{
    struct residency_moment *moment = ledger->moment;
    const uint64_t bytes = end - start;
    const bool hugetlb =
        index != SIZE_MAX && ledger->residency->mappings[index].flags & TRACE_MAPPING_HUGETLB;
    if (kind == TRACE_PAGE_SWAPPED) {
        moment->swapped += bytes;
        add_swapped(ledger, start, end);
    } else if (kind == TRACE_PAGE_ZERO)
        ledger->bytes[RESIDENCY_ZERO_PAGE] += bytes;
    else if (hugetlb)
        add_row(ledger, RESIDENCY_HUGETLB, ledger->residency->mappings[index].name, bytes);
    else {
        moment->present += bytes;
        ledger->huge = kind == TRACE_PAGE_HUGE;
        ledger->shared = kind == TRACE_PAGE_SHARED;
        if (ledger->huge)
            moment->huge += bytes;
        add_present(ledger, start, end, index);
    }
}

static void add_runs(struct ledger *ledger)
{
    const struct residency *residency = ledger->residency;
    size_t mapping = 0;
    for (size_t i = 0; ledger->memory && i < residency->runs.count; i++) {
        const struct resident_run *run = &residency->runs.runs[i];
        const uint64_t end = (run->page + run->count) * RESIDENT_PAGE;
        for (uint64_t at = run->page * RESIDENT_PAGE; at < end;) {
            while (mapping < residency->mapping_count && residency->mappings[mapping].end <= at)
                mapping++;
            const struct resident_mapping *here =
                mapping < residency->mapping_count ? &residency->mappings[mapping] : NULL;
            const bool inside = here && here->start <= at;
            uint64_t to = !here ? end : inside ? here->end : here->start;
            to = to < end ? to : end;
            add_part(ledger, at, to, run->kind, inside ? mapping : SIZE_MAX);
            at = to;
        }
    }
}

static void forget_rows(struct residency_moment *moment)
{
    for (size_t i = 0; i < moment->row_count; i++)
        free(moment->rows[i].detail);
    moment->row_count = 0;
    moment->present = moment->swapped = moment->huge = moment->live_huge = 0;
}

/* Goes through the pages and the blocks, by the allocator's rules. */
static void add_all(struct ledger *ledger, enum heap_allocator allocator)
{
    struct residency *residency = ledger->residency;
    const struct ledger empty = {.residency = residency,
                                 .moment = ledger->moment,
                                 .allocator = allocator,
                                 .own = ledger->own,
                                 .stacks = ledger->stacks,
                                 .own_count = ledger->own_count,
                                 .stack_count = ledger->stack_count,
                                 .memory = true};
    *ledger = empty;
    forget_rows(ledger->moment);
    for (size_t i = 1; i < residency->owner_count; i++) {
        const struct residency_sum old = residency->owners[i];
        residency->owners[i] = (struct residency_sum){.stack = old.stack, .type = old.type};
    }
    add_runs(ledger);
    chunk_from(ledger, UINT64_MAX);
}

/* Does so by the rules of the process's library, unless the blocks contradict these. */
static void add_by_rules(struct ledger *ledger)
{
    enum { CONTRADICTIONS_PER_MILLE = 2, CONTRADICTIONS_LEAST = 8 };
    const struct residency *residency = ledger->residency;
    const size_t heaps = residency->heap_count;
    add_all(ledger, residency->library);
    if (residency->heap_count > heaps) /* blocks that came before may lie there */
        add_all(ledger, residency->library);
    if (ledger->overlaps >= CONTRADICTIONS_LEAST &&
        ledger->overlaps * 1000 > residency->blocks.count * CONTRADICTIONS_PER_MILLE)
        add_all(ledger, HEAP_UNKNOWN);
}

/* Makes a list without overlaps: of two, the later one wins. */
static void sort_specials(struct special *list, size_t *count)
{
    size_t kept = 0;
    qsort(list, *count, sizeof(*list), compare_special);
    for (size_t i = 0; i < *count; i++) {
        if (kept > 0 && list[kept - 1].end > list[i].start)
            list[kept - 1].end = list[i].start;
        if (kept > 0 && list[kept - 1].end <= list[kept - 1].start)
            kept--;
        list[kept++] = list[i];
    }
    *count = kept;
}

/* The C library's data of a thread lies above its stack, in the same mapping. */
enum { THREAD_DATA = 2304 };

static bool find_specials(struct ledger *ledger, uint64_t now)
{
    const struct trace_scan *scan = ledger->residency->scan;
    ledger->own = calloc(scan->own_count + 1, sizeof(*ledger->own));
    ledger->stacks = calloc(scan->threads.count + 1, sizeof(*ledger->stacks));
    if (!ledger->own || !ledger->stacks)
        return false;
    for (size_t i = 0; i < scan->own_count; i++) {
        const struct own_memory *own = &scan->own[i];
        if (own->until > now)
            ledger->own[ledger->own_count++] =
                (struct special){own->start, own->start + own->size, ""};
    }
    for (size_t i = 0; i < scan->threads.count; i++) {
        const struct thread_row *thread = &scan->threads.rows[i];
        if (thread->stack_high <= thread->stack_low || thread->start_ticks > now)
            continue;
        const uint64_t high = thread->stack_high + THREAD_DATA + RESIDENT_PAGE - 1;
        ledger->stacks[ledger->stack_count++] =
            (struct special){thread->stack_low & ~(uint64_t)(RESIDENT_PAGE - 1),
                             high & ~(uint64_t)(RESIDENT_PAGE - 1), thread->name};
    }
    sort_specials(ledger->own, &ledger->own_count);
    sort_specials(ledger->stacks, &ledger->stack_count);
    return true;
}

/* ---- results ---------------------------------------------------------------------------- */

/* The runs of a piece of the table residency_run. */
enum { RUNS_PER_PIECE = 4096, RUN_HUGETLB = 4 };

static bool code_run(struct residency_moment *moment, uint64_t *at, uint64_t page, uint64_t count,
                     uint32_t kind)
{
    if (!array_grow(&moment->coded, &moment->coded_capacity, moment->coded_length + 32, 1))
        return false;
    uint8_t *to = moment->coded + moment->coded_length;
    to = trace_put_varint(trace_put_varint(to, page - *at), count << 3 | kind);
    moment->coded_length = (size_t)(to - moment->coded);
    moment->pieces[moment->piece_count - 1].length =
        moment->coded_length - moment->pieces[moment->piece_count - 1].start;
    *at = page + count;
    return true;
}

static bool code_runs(const struct residency *residency, struct residency_moment *moment)
{
    uint64_t at = 0;
    size_t mapping = 0;
    for (size_t i = 0; i < residency->runs.count; i++) {
        const struct resident_run *run = &residency->runs.runs[i];
        if (i % RUNS_PER_PIECE == 0) {
            if (!ARRAY_GROW(moment->pieces, moment->piece_count, moment->piece_capacity))
                return false;
            moment->pieces[moment->piece_count++] =
                (struct residency_piece){moment->coded_length, 0};
            at = 0;
        }
        while (mapping < residency->mapping_count &&
               residency->mappings[mapping].end <= run->page * RESIDENT_PAGE)
            mapping++;
        const bool hugetlb = mapping < residency->mapping_count &&
                             residency->mappings[mapping].start <= run->page * RESIDENT_PAGE &&
                             (residency->mappings[mapping].flags & TRACE_MAPPING_HUGETLB);
        const uint32_t kind = run->kind == TRACE_PAGE_SHARED ? TRACE_PAGE_PRESENT : run->kind;
        if (!code_run(moment, &at, run->page, run->count, hugetlb ? RUN_HUGETLB : kind))
            return false;
    }
    return true;
}

/* Takes the sums of the owners, by stack and type. */
static bool take_sums(struct residency *residency, struct residency_moment *moment)
{
    struct number_pair *order = malloc((residency->owner_count + 1) * sizeof(*order));
    size_t count = 0;
    for (size_t i = 1; order && i < residency->owner_count; i++) {
        const struct residency_sum *sum = &residency->owners[i];
        if (sum->live_count || sum->last_owned)
            order[count++] = (struct number_pair){(uint64_t)sum->stack << 32 | sum->type, i};
    }
    if (order)
        sort_pairs(order, count);
    moment->sums = malloc((count + 1) * sizeof(*moment->sums));
    for (size_t i = 0; order && moment->sums && i < count; i++)
        moment->sums[moment->sum_count++] = residency->owners[order[i].value];
    const bool good = order && moment->sums;
    free(order);
    return good;
}

/* Details of a class that are kept apart; smaller ones are put together. */
enum { DETAILS_MOST = 200 };

ARRAY_ORDER(compare_rows, struct residency_row, ORDER(b->bytes, a->bytes))

static void put_small_together(struct residency_moment *moment)
{
    size_t kept = 0, counts[RESIDENCY_CLASSES] = {0};
    struct residency_row *other[RESIDENCY_CLASSES] = {0};
    if (moment->row_count > 0)
        qsort(moment->rows, moment->row_count, sizeof(*moment->rows), compare_rows);
    for (size_t i = 0; i < moment->row_count; i++) {
        struct residency_row row = moment->rows[i];
        if (counts[row.class]++ < DETAILS_MOST) {
            moment->rows[kept++] = row;
            if (counts[row.class] == DETAILS_MOST) {
                /* The last one stands for the others, too. */
                other[row.class] = &moment->rows[kept - 1];
            }
            continue;
        }
        other[row.class]->bytes += row.bytes;
        other[row.class]->detail[0] = '\0';
        free(row.detail);
    }
    moment->row_count = kept;
}

/* Puts the classes that have no details. */
static void put_classes(struct ledger *ledger)
{
    static const enum residency_class plain[] = {RESIDENCY_LIVE_RESIDENT,  RESIDENCY_HEADERS,
                                                 RESIDENCY_HOLES_RESIDENT, RESIDENCY_FREE_PAGES,
                                                 RESIDENCY_LIVE_UNTOUCHED, RESIDENCY_LIVE_SWAPPED,
                                                 RESIDENCY_ZERO_PAGE};
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        const uint64_t bytes = ledger->bytes[plain[i]];
        add_row(ledger, plain[i], "", bytes);
        if (bytes == 0 || !ledger->memory)
            continue;
        struct residency_row *row = &ledger->moment->rows[ledger->moment->row_count - 1];
        row->blocks = plain[i] == RESIDENCY_LIVE_RESIDENT    ? ledger->seen
                      : plain[i] == RESIDENCY_LIVE_UNTOUCHED ? ledger->unseen
                      : plain[i] == RESIDENCY_HOLES_RESIDENT ? ledger->holes
                                                             : RESIDENCY_NO_BLOCKS;
    }
}

static bool is_present(const void *context, uint64_t page)
{
    const struct residency *residency = context;
    const struct resident_runs *runs = &residency->runs;
    size_t low = 0, high = runs->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (runs->runs[middle].page + runs->runs[middle].count <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low < runs->count && runs->runs[low].page <= page;
}

/* Calls `each` for the pages of the last ledger that the runs do not have. */
static bool each_gone(const void *context, uint64_t most,
                      void (*each)(struct last_owners *owners, uint64_t page),
                      struct last_owners *owners)
{
    const struct residency *residency = context;
    const struct resident_runs *old = &residency->runs_before, *new = &residency->runs;
    uint64_t gone = 0;
    for (size_t i = 0, k = 0; i < old->count; i++) {
        const uint64_t end = old->runs[i].page + old->runs[i].count;
        for (uint64_t at = old->runs[i].page; at < end;) {
            while (k < new->count &&new->runs[k].page + new->runs[k].count <= at)
                k++;
            const bool present = k < new->count &&new->runs[k].page <= at;
            uint64_t to = k == new->count ? end
                          : present       ? new->runs[k].page + new->runs[k].count
                                          : new->runs[k].page;
            to = to < end ? to : end;
            if (!present && (gone += to - at) > most)
                return false;
            for (; !present && at < to; at++)
                each(owners, at);
            at = to;
        }
    }
    return true;
}

/* Forgets who lived on pages that have gone, and keeps the runs. */
static bool forget_gone(struct residency *residency)
{
    struct resident_runs *before = &residency->runs_before;
    const struct last_owners_pages pages = {is_present, each_gone, residency};
    if (!last_owners_forget(&residency->last, &pages) ||
        !array_grow(&before->runs, &before->capacity, residency->runs.count, sizeof(*before->runs)))
        return false;
    before->count = residency->runs.count;
    if (before->count > 0)
        memcpy(before->runs, residency->runs.runs, before->count * sizeof(*before->runs));
    return true;
}

/* Notes what is mapped at the first moment of a forked process. The kernel makes a mapping of its
 * own of what the program break grew since the fork. */
static bool note_inherited(struct residency *residency)
{
    if (!residency->forked || residency->inherited)
        return true;
    residency->inherited = calloc(residency->mapping_count + 1, sizeof(*residency->inherited));
    for (size_t i = 0; residency->inherited && i < residency->mapping_count; i++) {
        const struct resident_mapping *mapping = &residency->mappings[i];
        if (i > 0 && strcmp(mapping->name, "[heap]") == 0 &&
            strcmp(mapping[-1].name, "[heap]") == 0)
            continue;
        residency->inherited[residency->inherited_count++] =
            (struct number_pair){mapping->start, mapping->end};
    }
    return residency->inherited != NULL;
}

static bool keep_moment(struct residency *residency)
{
    if (!ARRAY_GROW(residency->moments, residency->moment_count, residency->moment_capacity))
        return false;
    residency->moments[residency->moment_count++] = residency->next;
    residency->next = (struct residency_moment){0};
    return true;
}

bool residency_ledger(struct residency *residency, const struct live_table *heap, uint64_t order,
                      uint64_t now, uint64_t now_ns)
{
    bool good;
    residency->reading = false;
    residency->blocks.order = order;
    residency->blocks.ns = now_ns;
    residency->work += heap->live + residency->runs.count;
    if (!residency_apply_runs(residency, &good))
        return false;
    residency->number = good ? residency->next_number : 0;
    if (!good)
        return true;
    struct ledger ledger = {.residency = residency, .moment = &residency->next, .memory = true};
    if (note_inherited(residency) && read_blocks(residency, heap) &&
        last_owners_settle(&residency->last) && find_specials(&ledger, now)) {
        add_by_rules(&ledger);
        for (size_t i = 1; i < residency->owner_count; i++) {
            const struct residency_sum *sum = &residency->owners[i];
            ledger.bytes[RESIDENCY_LIVE_UNTOUCHED] +=
                sum->live_bytes - sum->resident - sum->swapped;
        }
        put_classes(&ledger);
        put_small_together(ledger.moment);
    } else
        ledger.memory = false;
    residency->next.ns = now_ns;
    residency->next.allocator = ledger.allocator;
    ledger.memory = ledger.memory && take_sums(residency, &residency->next) &&
                    code_runs(residency, &residency->next) && forget_gone(residency) &&
                    keep_moment(residency);
    FREE_ALL(ledger.own, ledger.stacks);
    return ledger.memory;
}
