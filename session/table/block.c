/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the story of one allocation. */
#include "session/block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/store/kernels.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"

/* ---- facts ---- */

static bool read_candidate(void *context, const struct database_row *row,
                           struct session_error *error)
{
    struct session_block_facts *facts = context;
    const char *name = database_text(row, 0);
    if (facts->candidates < SESSION_CANDIDATES)
        snprintf(facts->candidate[facts->candidates++], sizeof(facts->candidate[0]), "%s",
                 name ? name : "?");
    return true;
}

static bool read_freed_by(void *context, const struct database_row *row,
                          struct session_error *error)
{
    struct session_block_facts *facts = context;
    const char *name = database_text(row, 0);
    snprintf(facts->freed_by, sizeof(facts->freed_by), "%s", name ? name : "");
    return true;
}

static uint32_t process_of(const struct session *session, uint64_t thread)
{
    const struct names *names = &session->names;
    return thread < names->thread.count ? names->thread_process[thread] : 0;
}

bool session_block_facts(struct session *session, const struct session_allocation *block,
                         struct session_block_facts *facts, struct session_error *error)
{
    const struct names *names = &session->names;
    char sql[160];
    bool good = true;
    *facts = (struct session_block_facts){
        .confidence = "unknown", .arena = "", .process = process_of(session, block->thread)};
    if (block->arena != 0)
        facts->arena = name_table_get(&names->arena, block->arena);
    if (block->type != 0 && block->type < names->type.count && names->confidence[block->type])
        facts->confidence = names->confidence[block->type];
    if (block->free_ns != SESSION_LIVE && block->free_stack != 0) {
        snprintf(sql, sizeof(sql), "SELECT function FROM free_call WHERE stack_id = %" PRIu32,
                 block->free_stack);
        good = database_each(session->database, sql, read_freed_by, facts, error);
    }
    if (block->type == 0 && block->size <= INT64_MAX) {
        snprintf(sql, sizeof(sql),
                 "SELECT name FROM type_candidate WHERE stack_id = %" PRIu32 " AND size = %" PRIu64
                 " ORDER BY position",
                 block->stack, block->size);
        good = good && database_each(session->database, sql, read_candidate, facts, error);
    }
    return good;
}

/* ---- neighbours and the address ---- */

/* A block that held the address, and how far from the life of the asked one it lies in time. */
struct use {
    uint64_t distance, id;
};

struct near {
    uint64_t ns;
    uint64_t below_end, below, above_start, above; /* `below` and `above` are ids, 0: none */
};

struct found {
    const struct session_allocation *block;
    uint32_t process;
    struct near birth, end;
    uint64_t before_count, after_count;
    struct use before[SESSION_USES], after[SESSION_USES]; /* the nearest in time, in order */
};

/* The columns of a chunk, read as they are needed. */
struct block_columns {
    struct column_view address, size, begin, life, thread, arena;
    bool has_times, has_rest;
};

static bool read_times(struct scan_worker *worker, uint32_t chunk, struct block_columns *columns,
                       struct session_error *error)
{
    if (!columns->has_times)
        columns->has_times = scan_column(worker, chunk, COLUMN_ALLOC_NS, &columns->begin, error) &&
                             scan_column(worker, chunk, COLUMN_LIFE_NS, &columns->life, error);
    return columns->has_times;
}

static bool read_rest(struct scan_worker *worker, uint32_t chunk, struct block_columns *columns,
                      struct session_error *error)
{
    if (!columns->has_rest)
        columns->has_rest = scan_column(worker, chunk, COLUMN_ADDRESS, &columns->address, error) &&
                            scan_column(worker, chunk, COLUMN_SIZE, &columns->size, error) &&
                            scan_column(worker, chunk, COLUMN_THREAD, &columns->thread, error) &&
                            scan_column(worker, chunk, COLUMN_ARENA, &columns->arena, error);
    return columns->has_rest;
}

/* Returns true if a row can be a neighbour: in the same arena of the same process. */
static bool is_beside(const struct session *session, const struct found *found,
                      const struct block_columns *columns, size_t row)
{
    return column_view_at(&columns->arena, row) == found->block->arena &&
           process_of(session, column_view_at(&columns->thread, row)) == found->process;
}

static bool is_nearer(const struct use *left, const struct use *right)
{
    return left->distance != right->distance ? left->distance < right->distance
                                             : left->id < right->id;
}

static void offer(struct use *nearest, uint64_t known, struct use use)
{
    size_t count = known < SESSION_USES ? (size_t)known : SESSION_USES;
    size_t place = count;
    while (place > 0 && is_nearer(&use, &nearest[place - 1]))
        place--;
    if (place == SESSION_USES)
        return;
    if (count == SESSION_USES)
        count--;
    memmove(&nearest[place + 1], &nearest[place], (count - place) * sizeof(*nearest));
    nearest[place] = use;
}

/* Adds a block that held the address, if it lived before or after the asked one. */
static void add_use(struct found *found, uint64_t id, uint64_t began, uint64_t life)
{
    const struct session_allocation *block = found->block;
    if (id == block->id)
        return;
    if (life != 0 && began + life - 1 <= block->alloc_ns)
        offer(found->before, found->before_count++,
              (struct use){block->alloc_ns - (began + life - 1), id});
    else if (block->free_ns != SESSION_LIVE && began >= block->free_ns)
        offer(found->after, found->after_count++, (struct use){began - block->free_ns, id});
}

static bool find_uses(struct found *found, struct scan_worker *worker, uint32_t chunk,
                      struct block_columns *columns, struct session_error *error)
{
    const struct session *session = scan_session(worker);
    const struct column_store *store = session->columns;
    const uint64_t address = found->block->address;
    const uint64_t largest = column_store_max(store, chunk, COLUMN_SIZE);
    const struct kernel_range range = {address > largest ? address - largest : 0, address, false};
    uint64_t words[ROW_SET_WORDS];
    if (column_store_min(store, chunk, COLUMN_ADDRESS) > range.high ||
        column_store_max(store, chunk, COLUMN_ADDRESS) < range.low)
        return true;
    if (!scan_column(worker, chunk, COLUMN_ADDRESS, &columns->address, error))
        return false;
    kernel_in_range(&columns->address, &range, words);
    if (kernel_count(words, ROW_SET_WORDS) == 0)
        return true;
    if (!read_times(worker, chunk, columns, error) || !read_rest(worker, chunk, columns, error))
        return false;
    ROW_SET_EACH(words, row)
    {
        const uint64_t held = column_view_at(&columns->size, row);
        if (address - column_view_at(&columns->address, row) < (held > 0 ? held : 1) &&
            is_beside(session, found, columns, row))
            add_use(found, (uint64_t)chunk * COLUMN_CHUNK_ROWS + row + 1,
                    column_view_at(&columns->begin, row), column_view_at(&columns->life, row));
    }
    return true;
}

/* Takes a live block if it is nearer than those known. */
static void offer_beside(struct near *near, uint64_t address, uint64_t id, uint64_t start,
                         uint64_t held)
{
    const uint64_t end = held > UINT64_MAX - start ? UINT64_MAX : start + held;
    if (end <= address && (near->below == 0 || end > near->below_end)) {
        near->below = id;
        near->below_end = end;
    } else if (start > address && (near->above == 0 || start < near->above_start)) {
        near->above = id;
        near->above_start = start;
    }
}

static bool find_beside(struct found *found, struct near *near, struct scan_worker *worker,
                        uint32_t chunk, struct block_columns *columns, struct session_error *error)
{
    const struct session *session = scan_session(worker);
    const struct column_store *store = session->columns;
    uint64_t words[ROW_SET_WORDS];
    if (column_store_min(store, chunk, COLUMN_ALLOC_NS) > near->ns ||
        column_store_last_free(store, chunk) <= near->ns)
        return true;
    if (!read_times(worker, chunk, columns, error))
        return false;
    kernel_live_at(&columns->begin, &columns->life, near->ns, words);
    if (kernel_count(words, ROW_SET_WORDS) == 0)
        return true;
    if (!read_rest(worker, chunk, columns, error))
        return false;
    ROW_SET_EACH(words, row)
    {
        const uint64_t id = (uint64_t)chunk * COLUMN_CHUNK_ROWS + row + 1;
        const uint64_t size = column_view_at(&columns->size, row);
        if (id != found->block->id && is_beside(session, found, columns, row))
            offer_beside(near, found->block->address, id, column_view_at(&columns->address, row),
                         size > 0 ? size : 1);
    }
    return true;
}

static bool find_around(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    struct found *found = context;
    struct block_columns columns = {.has_times = false};
    return find_uses(found, worker, chunk, &columns, error) &&
           find_beside(found, &found->birth, worker, chunk, &columns, error) &&
           find_beside(found, &found->end, worker, chunk, &columns, error);
}

/* Adds what one thread has found on one side to what others have. */
static void merge_uses(struct use *nearest, uint64_t *count, const struct use *more,
                       uint64_t more_count)
{
    const uint64_t kept = more_count < SESSION_USES ? more_count : SESSION_USES;
    for (uint64_t i = 0; i < kept; i++)
        offer(nearest, (*count)++, more[i]);
    *count += more_count - kept;
}

static void merge_beside(struct near *near, const struct near *more)
{
    if (more->below != 0 && (near->below == 0 || more->below_end > near->below_end)) {
        near->below = more->below;
        near->below_end = more->below_end;
    }
    if (more->above != 0 && (near->above == 0 || more->above_start < near->above_start)) {
        near->above = more->above;
        near->above_start = more->above_start;
    }
}

static void store_around(const struct found *all, struct session_surroundings *around)
{
    around->birth.below = all->birth.below;
    around->birth.above = all->birth.above;
    around->end.below = all->end.below;
    around->end.above = all->end.above;
    around->before_count = all->before_count;
    around->after_count = all->after_count;
    for (size_t i = 0; i < SESSION_USES; i++) {
        around->before[i] = all->before[i].id;
        around->after[i] = all->after[i].id;
    }
}

bool session_surroundings(struct session *session, const struct session_allocation *block,
                          struct session_surroundings *around, struct session_error *error)
{
    struct scan_contexts contexts;
    *around = (struct session_surroundings){.birth = {.ns = block->alloc_ns},
                                            .end = {.ns = session->duration_ns}};
    if (block->free_ns != SESSION_LIVE)
        around->end.ns = block->free_ns;
    struct found all = {.block = block,
                        .process = process_of(session, block->thread),
                        .birth = {.ns = around->birth.ns},
                        .end = {.ns = around->end.ns}};
    if (!scan_contexts_open(session, &contexts, sizeof(struct found), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        *(struct found *)contexts.each[i] = all;
    const bool good = scan_chunks(session, column_store_chunks(session->columns), find_around,
                                  contexts.each, contexts.threads, error);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        const struct found *found = contexts.each[i];
        merge_beside(&all.birth, &found->birth);
        merge_beside(&all.end, &found->end);
        merge_uses(all.before, &all.before_count, found->before, found->before_count);
        merge_uses(all.after, &all.after_count, found->after, found->after_count);
    }
    scan_contexts_close(&contexts);
    store_around(&all, around);
    return good;
}

/* ---- reallocations ---- */

/* Adds the blocks before the first one. Each names the one before it. */
static bool add_older(struct session *session, const struct session_allocation *block,
                      struct session_chain *chain, struct session_error *error)
{
    struct session_allocation older = *block;
    uint64_t found[SESSION_CHAIN / 2];
    size_t count = 0;
    /* A block is freed before the one that it became, and ids are in the order of frees. */
    while (older.realloc_of != 0 && older.realloc_of < older.id && count < SESSION_CHAIN / 2) {
        const uint64_t id = older.realloc_of;
        if (!scan_go_on(session, error) || !session_allocation(session, id, &older, error))
            return false;
        found[count++] = id;
    }
    chain->older = older.realloc_of != 0 && older.realloc_of < older.id;
    while (count > 0)
        chain->ids[chain->count++] = found[--count];
    return true;
}

/* Adds the blocks after the last one: later rows name them. */
static bool add_newer(struct session *session, struct session_chain *chain,
                      struct session_error *error)
{
    const struct column_store *store = session->columns;
    uint64_t last = chain->ids[chain->count - 1], words[ROW_SET_WORDS];
    for (uint32_t chunk = (uint32_t)((last - 1) / COLUMN_CHUNK_ROWS);
         chunk < column_store_chunks(store); chunk++) {
        struct column_view of;
        size_t from = 0;
        if (!scan_go_on(session, error))
            return false;
        while (from < COLUMN_CHUNK_ROWS &&
               last >= column_store_min(store, chunk, COLUMN_REALLOC_OF) &&
               last <= column_store_max(store, chunk, COLUMN_REALLOC_OF)) {
            const struct kernel_range range = {last, last, false};
            if (!scan_look(session, chunk, COLUMN_REALLOC_OF, &of, error))
                return false;
            kernel_in_range(&of, &range, words);
            size_t word = from / 64;
            while (word < ROW_SET_WORDS && words[word] == 0)
                word++;
            if (word == ROW_SET_WORDS)
                break;
            if (chain->count == SESSION_CHAIN) {
                chain->newer = true;
                return true;
            }
            from = word * 64 + (size_t)__builtin_ctzll(words[word]);
            last = (uint64_t)chunk * COLUMN_CHUNK_ROWS + from + 1;
            chain->ids[chain->count++] = last;
        }
    }
    return true;
}

bool session_chain(struct session *session, const struct session_allocation *block,
                   struct session_chain *chain, struct session_error *error)
{
    *chain = (struct session_chain){.count = 0};
    if (!add_older(session, block, chain, error))
        return false;
    chain->place = chain->count;
    chain->ids[chain->count++] = block->id;
    return block->free_ns == SESSION_LIVE || add_newer(session, chain, error);
}
