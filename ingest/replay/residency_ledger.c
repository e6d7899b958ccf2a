/* SPDX-License-Identifier: BSD-2-Clause */
/* The ledger of a moment: goes through the pages in memory and the live blocks by address. */
#include "ingest/replay/residency.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/trace_codec.h"

/* ---- ledger ----------------------------------------------------------------------------- */

/* A block with what is around it. */
struct chunk {
    uint64_t low, high;
    uint64_t address, end; /* of the bytes that the program asked for */
    uint32_t owner;
    bool seen; /* some of it is resident */
};

struct special {
    uint64_t start, end;
    const char *detail;
};

struct ledger {
    struct residency *residency;
    struct residency_moment *moment;
    enum heap_allocator allocator;
    struct chunk *chunks;
    size_t chunk_count, next;     /* next: the first that ends after the place */
    struct special *own, *stacks; /* by address; they do not overlap */
    size_t own_count, stack_count;
    uint64_t bytes[RESIDENCY_CLASSES];
    uint64_t holes; /* intervals */
    uint64_t known; /* bytes of holes whose last owner is known */
    bool memory;    /* false: it is exhausted */
};

static int compare_special(const void *left, const void *right)
{
    const struct special *one = left, *other = right;
    return one->start < other->start ? -1 : one->start > other->start;
}

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

/* Adds bytes to a class with a detail. */
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
    if (!copy || !array_grow(&moment->rows, &moment->row_capacity, moment->row_count + 1,
                             sizeof(*moment->rows))) {
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

/* Counts free memory of the allocator, on pages with blocks or without. */
static void add_hole(struct ledger *ledger, uint64_t start, uint64_t end, bool whole)
{
    if (end <= start)
        return;
    if (ledger->residency->late) {
        add_row(ledger, RESIDENCY_UNATTRIBUTED, ledger->residency->late, end - start);
        return;
    }
    ledger->bytes[whole ? RESIDENCY_FREE_PAGES : RESIDENCY_HOLES_RESIDENT] += end - start;
    ledger->holes += !whole;
    last_owners_ask(&ledger->residency->last, start, end, note_last, ledger);
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
static enum residency_class class_of(const struct ledger *ledger, uint64_t page, size_t index,
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
    if (mapping->name[0] == '[')
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
        !mapping->has_heap && mapping->end - mapping->start <= GLIBC_HEAP_SIZE) {
        *detail = before->name;
        return before->flags & TRACE_MAPPING_RECORDER ? RESIDENCY_RECORDER : RESIDENCY_FILES;
    }
    if (ledger->allocator == HEAP_GLIBC) {
        const uint64_t next = (page / GLIBC_HEAP_SIZE + 1) * GLIBC_HEAP_SIZE;
        *end = next < *end ? next : *end;
        if (residency_is_heap(residency, page))
            return RESIDENCY_FREE_PAGES;
    } else if (ledger->allocator != HEAP_UNKNOWN && mapping->has_heap)
        return RESIDENCY_FREE_PAGES;
    if (mapping->arena) {
        *detail = mapping->arena;
        return RESIDENCY_ARENAS;
    }
    const char *mapper =
        residency->mapper ? residency->mapper(residency->mapper_context, page, end) : NULL;
    if (mapper)
        *detail = mapper;
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
        const enum residency_class class = class_of(ledger, start, index, &to, &detail);
        if (to <= start)
            to = end;
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
static void add_chunk(struct ledger *ledger, struct chunk *chunk, uint64_t start, uint64_t end,
                      bool huge)
{
    const uint64_t whole = overlap(chunk->low, chunk->high, start, end);
    const uint64_t asked = overlap(chunk->address, chunk->end, start, end);
    struct residency_sum *owner = &ledger->residency->owners[chunk->owner];
    const uint64_t payload = asked < whole ? asked : whole;
    owner->resident += payload;
    owner->headers += whole - payload;
    ledger->bytes[RESIDENCY_LIVE_RESIDENT] += payload;
    ledger->bytes[RESIDENCY_HEADERS] += whole - payload;
    if (huge)
        ledger->moment->live_huge += payload;
    chunk->seen = chunk->seen || payload > 0;
}

/* Gaps between chunks that are too short for a block are the allocator's. */
enum { SHORTEST_CHUNK = 32 };

/* Counts one present page in which chunks begin or end. */
static void add_mixed(struct ledger *ledger, uint64_t page, bool huge)
{
    const uint64_t end = page + RESIDENT_PAGE;
    uint64_t at = page, free_bytes = 0;
    size_t last = ledger->next;
    for (; last < ledger->chunk_count && ledger->chunks[last].low < end; last++) {
        struct chunk *chunk = &ledger->chunks[last];
        const uint64_t low = chunk->low > page ? chunk->low : page;
        const uint64_t high = chunk->high < end ? chunk->high : end;
        if (high <= at)
            continue;
        if (low > at && low - at < SHORTEST_CHUNK && at > page)
            ledger->bytes[RESIDENCY_HEADERS] += low - at;
        else if (low > at) {
            add_hole(ledger, at, low, false);
            free_bytes += low - at;
        }
        add_chunk(ledger, chunk, low, high, huge);
        at = high;
    }
    add_hole(ledger, at, end, false);
    free_bytes += end - at;
    const size_t count = last - ledger->next;
    if (free_bytes == 0 || ledger->residency->late)
        return;
    ledger->residency->owners[ledger->chunks[ledger->next].owner].pinned_pages++;
    /* The first one gets what is left of the shares. */
    for (size_t i = ledger->next; i < last; i++)
        ledger->residency->owners[ledger->chunks[i].owner].pinned +=
            free_bytes / count + (i == ledger->next ? free_bytes % count : 0);
}

static void add_present(struct ledger *ledger, uint64_t start, uint64_t end, size_t index,
                        bool huge)
{
    for (uint64_t at = start; at < end;) {
        while (ledger->next < ledger->chunk_count && ledger->chunks[ledger->next].high <= at)
            ledger->next++;
        struct chunk *chunk =
            ledger->next < ledger->chunk_count ? &ledger->chunks[ledger->next] : NULL;
        uint64_t to = end;
        if (!chunk || chunk->low >= at + RESIDENT_PAGE) {
            if (chunk && chunk->low < end)
                to = chunk->low - chunk->low % RESIDENT_PAGE;
            add_empty(ledger, at, to, index);
        } else if (chunk->low <= at && chunk->high >= at + RESIDENT_PAGE) {
            if (chunk->high < end)
                to = chunk->high - chunk->high % RESIDENT_PAGE;
            add_chunk(ledger, chunk, at, to, huge);
        } else {
            to = at + RESIDENT_PAGE;
            add_mixed(ledger, at, huge);
        }
        at = to;
    }
}

static void add_swapped(struct ledger *ledger, uint64_t start, uint64_t end)
{
    for (size_t i = ledger->next; i < ledger->chunk_count && ledger->chunks[i].low < end; i++) {
        struct chunk *chunk = &ledger->chunks[i];
        const uint64_t bytes = overlap(chunk->address, chunk->end, start, end);
        ledger->residency->owners[chunk->owner].swapped += bytes;
        ledger->bytes[RESIDENCY_LIVE_SWAPPED] += bytes;
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
    while (ledger->next < ledger->chunk_count && ledger->chunks[ledger->next].high <= start)
        ledger->next++;
    if (kind == TRACE_PAGE_SWAPPED) {
        moment->swapped += bytes;
        add_swapped(ledger, start, end);
    } else if (kind == TRACE_PAGE_ZERO)
        ledger->bytes[RESIDENCY_ZERO_PAGE] += bytes;
    else if (hugetlb)
        add_row(ledger, RESIDENCY_HUGETLB, ledger->residency->mappings[index].name, bytes);
    else {
        moment->present += bytes;
        if (kind == TRACE_PAGE_HUGE)
            moment->huge += bytes;
        add_present(ledger, start, end, index, kind == TRACE_PAGE_HUGE);
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

/* ---- places of the ledger --------------------------------------------------------------- */

/* A block's address, and its place in the array. */
struct place {
    uint64_t address;
    size_t index;
};

/* Sorts blocks by address, by the least significant digits first: at each moment most of the blocks
 * are those of the moment before, and there may be millions. False if memory is exhausted. */
static bool sort_blocks(struct residency_block *blocks, size_t count)
{
    enum { DIGIT = 11, DIGITS = 1 << DIGIT, LEAST = 4096 };
    struct place *from = malloc(count * sizeof(*from)), *to = malloc(count * sizeof(*to));
    struct residency_block *sorted = malloc(count * sizeof(*sorted));
    uint64_t all = 0;
    for (size_t i = 0; from && i < count; i++) {
        from[i] = (struct place){blocks[i].address, i};
        all |= blocks[i].address;
    }
    const bool good = from && to && sorted;
    if (good && count < LEAST)
        qsort(from, count, sizeof(*from), compare_uint64);
    for (unsigned shift = 0; good && count >= LEAST && shift < 64 && all >> shift; shift += DIGIT) {
        size_t starts[DIGITS] = {0}, sum = 0;
        for (size_t i = 0; i < count; i++)
            starts[from[i].address >> shift & (DIGITS - 1)]++;
        for (size_t digit = 0; digit < DIGITS; digit++) {
            const size_t here = starts[digit];
            starts[digit] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            to[starts[from[i].address >> shift & (DIGITS - 1)]++] = from[i];
        struct place *swapped = from;
        from = to;
        to = swapped;
    }
    for (size_t i = 0; good && i < count; i++)
        sorted[i] = blocks[from[i].index];
    if (good)
        memcpy(blocks, sorted, count * sizeof(*blocks));
    free(from);
    free(to);
    free(sorted);
    return good;
}

/* Makes the chunks of the blocks, which are sorted, by the rules of an allocator. Returns how many
 * overlap the one before, which no allocator's blocks do. */
static size_t make_chunks(struct ledger *ledger, const struct residency_block *blocks, size_t count)
{
    size_t overlaps = 0;
    uint64_t before = 0;
    ledger->chunk_count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t address = blocks[i].address;
        if (blocks[i].owner == OWNER_NONE)
            continue;
        const bool inside = residency_in_break(ledger->residency, address);
        struct chunk_span span =
            heap_allocator_span(ledger->allocator, address, blocks[i].size, inside);
        if (ledger->allocator == HEAP_GLIBC && !span.mapped && !inside &&
            ledger->residency->mapping_count > 0 &&
            !residency_know_heap(ledger->residency, address))
            ledger->memory = false;
        if (span.low < before) {
            overlaps++;
            span.low = before;
            span.high = span.high > before ? span.high : before;
        }
        before = span.high;
        ledger->chunks[ledger->chunk_count++] = (struct chunk){.low = span.low,
                                                               .high = span.high,
                                                               .address = address,
                                                               .end = address + blocks[i].size,
                                                               .owner = blocks[i].owner};
    }
    return overlaps;
}

/* Chooses the rules: those of the process's library, unless the blocks contradict them. */
static void choose_rules(struct ledger *ledger, const struct residency_block *blocks, size_t count)
{
    enum { CONTRADICTIONS_PER_MILLE = 2 };
    ledger->allocator = ledger->residency->library;
    const size_t overlaps = make_chunks(ledger, blocks, count);
    if (ledger->allocator == HEAP_UNKNOWN ||
        overlaps * 1000 <= ledger->chunk_count * CONTRADICTIONS_PER_MILLE)
        return;
    ledger->allocator = HEAP_UNKNOWN;
    make_chunks(ledger, blocks, count);
}

/* Notes which mappings hold blocks of the heap, and of allocators of the program. The blocks are
 * sorted. */
static void note_blocks(struct residency *residency, const struct residency_block *blocks,
                        size_t count)
{
    for (size_t i = 0; i < residency->mapping_count; i++) {
        residency->mappings[i].has_heap = false;
        residency->mappings[i].arena = NULL;
    }
    for (size_t i = 0, at = 0; i < count; i++) {
        while (at < residency->mapping_count && residency->mappings[at].end <= blocks[i].address)
            at++;
        if (at == residency->mapping_count)
            break;
        if (residency->mappings[at].start > blocks[i].address)
            continue;
        if (blocks[i].owner != OWNER_NONE)
            residency->mappings[at].has_heap = true;
        else
            residency->mappings[at].arena = blocks[i].arena;
    }
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
            if (!array_grow(&moment->pieces, &moment->piece_capacity, moment->piece_count + 1,
                            sizeof(*moment->pieces)))
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
        if (!code_run(moment, &at, run->page, run->count, hugetlb ? RUN_HUGETLB : run->kind))
            return false;
    }
    return true;
}

static bool has_sum(const struct residency_sum *sum)
{
    return sum->live_count || sum->last_owned;
}

/* Takes the sums of the owners. */
static bool take_sums(struct residency *residency, struct residency_moment *moment)
{
    size_t count = 0;
    for (size_t i = 1; i < residency->owner_count; i++)
        count += has_sum(&residency->owners[i]);
    moment->sums = malloc((count + 1) * sizeof(*moment->sums));
    for (size_t i = 1; moment->sums && i < residency->owner_count; i++) {
        const struct residency_sum *sum = &residency->owners[i];
        if (has_sum(sum))
            moment->sums[moment->sum_count++] = *sum;
    }
    return moment->sums != NULL;
}

/* Details of a class that are kept apart; smaller ones are put together. */
enum { DETAILS_MOST = 200 };

static int compare_rows(const void *left, const void *right)
{
    const struct residency_row *one = left, *other = right;
    return one->bytes > other->bytes ? -1 : one->bytes < other->bytes;
}

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
    uint64_t seen = 0, unseen = 0;
    for (size_t i = 0; i < ledger->chunk_count; i++) {
        seen += ledger->chunks[i].seen;
        unseen += !ledger->chunks[i].seen && ledger->chunks[i].end > ledger->chunks[i].address;
    }
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        const uint64_t bytes = ledger->bytes[plain[i]];
        add_row(ledger, plain[i], "", bytes);
        if (bytes == 0 || !ledger->memory)
            continue;
        struct residency_row *row = &ledger->moment->rows[ledger->moment->row_count - 1];
        row->blocks = plain[i] == RESIDENCY_LIVE_RESIDENT    ? seen
                      : plain[i] == RESIDENCY_LIVE_UNTOUCHED ? unseen
                      : plain[i] == RESIDENCY_HOLES_RESIDENT ? ledger->holes
                                                             : RESIDENCY_NO_BLOCKS;
    }
}

static bool is_present(void *context, uint64_t page)
{
    const struct resident_runs *runs = context;
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

static bool keep_moment(struct residency *residency)
{
    if (!array_grow(&residency->moments, &residency->moment_capacity, residency->moment_count + 1,
                    sizeof(*residency->moments)))
        return false;
    residency->moments[residency->moment_count++] = residency->next;
    residency->next = (struct residency_moment){0};
    return true;
}

/* Counts what is live. */
static void begin_sums(struct residency *residency, const struct residency_block *blocks,
                       size_t count)
{
    for (size_t i = 1; i < residency->owner_count; i++) {
        const struct residency_sum old = residency->owners[i];
        residency->owners[i] = (struct residency_sum){.stack = old.stack, .type = old.type};
    }
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].owner == OWNER_NONE)
            continue;
        residency->owners[blocks[i].owner].live_count++;
        residency->owners[blocks[i].owner].live_bytes += blocks[i].size;
    }
}

bool residency_ledger(struct residency *residency, struct residency_block *blocks, size_t count,
                      uint64_t now)
{
    bool good;
    residency->reading = false;
    residency->work += count + residency->runs.count;
    if (!residency_apply_runs(residency, &good))
        return false;
    residency->number = good ? residency->next_number : 0;
    if (!good)
        return true;
    struct ledger ledger = {.residency = residency, .moment = &residency->next, .memory = true};
    ledger.chunks = malloc((count + 1) * sizeof(*ledger.chunks));
    if (ledger.chunks && sort_blocks(blocks, count) && find_specials(&ledger, now)) {
        begin_sums(residency, blocks, count);
        choose_rules(&ledger, blocks, count);
        note_blocks(residency, blocks, count);
        add_runs(&ledger);
        for (size_t i = 1; i < residency->owner_count; i++) {
            const struct residency_sum *sum = &residency->owners[i];
            ledger.bytes[RESIDENCY_LIVE_UNTOUCHED] +=
                sum->live_bytes - sum->resident - sum->swapped;
        }
        put_classes(&ledger);
        put_small_together(ledger.moment);
    } else
        ledger.memory = false;
    residency->next.allocator = ledger.allocator;
    ledger.memory = ledger.memory && take_sums(residency, &residency->next) &&
                    code_runs(residency, &residency->next) &&
                    last_owners_forget(&residency->last, is_present, &residency->runs) &&
                    keep_moment(residency);
    free(ledger.chunks);
    free(ledger.own);
    free(ledger.stacks);
    return ledger.memory;
}
