/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/inherited.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/base/status.h"
#include "ingest/write/columns.h"
#include "schemas/array.h"
#include "inherited_parents_sql.h"
#include "inherited_processes_sql.h"
#include "inherited_sums_sql.h"

/* Results of a free that are not the id of a row. */
enum { RESULT_NONE = 0, RESULT_TWICE = -1 };

/* An address in an arena at which a process freed what it may have inherited. */
struct place {
    uint64_t address;
    uint32_t arena;
    uint64_t freed_ns; /* when it was freed first */
    uint64_t own_ns;   /* when the process itself allocated there first; UINT64_MAX: never */
};

/* A row of a process that was live when the process forked. */
struct block {
    uint64_t address;
    uint32_t arena;
    uint32_t before; /* index + 1 of the row before it at this address, 0: none */
    uint32_t last;   /* of the first one at an address: index + 1 of the last one */
    uint64_t id, size;
    uint64_t begin, end; /* in ns; UINT64_MAX: live at the end */
    /* The last process that freed it: its id, the index of the free, and the time. */
    uint32_t process;
    size_t free;
    uint64_t free_ns;
};

struct fork_row {
    const struct process *child;
    uint64_t ns, last_until;      /* the latest end of this fork and those before it */
    int64_t own_count, own_bytes; /* the next four: differences from the previous fork */
    int64_t lost_count, lost_bytes;
};

struct process {
    uint64_t first_id, last_id; /* of its rows, 0: none */
    struct process *parent;     /* NULL: not in the session */
    bool forked, inherits;      /* when it was forked is known; it names a parent */
    bool is_rested; /* recording was paused in it or an ancestor: blocks may be missing */
    bool is_whole;  /* all its ancestors are in the session */
    bool has_sum;
    uint64_t forked_ns, until_ns;
    int64_t inherited_count, inherited_bytes;
    uint64_t first_free, free_count, frees_below; /* below: of its descendants */
    size_t last_below;                            /* the highest index of these, 0: none */
    struct fork_row *forks;                       /* in the order of time */
    size_t fork_count;
    struct place *places;
    size_t place_count, place_capacity;
    struct index_map place_map;
    struct block *blocks;
    size_t block_count, block_capacity;
    struct index_map block_map; /* the first one at each address */
};

struct pairing {
    struct writer_database *session;
    struct writer_records *frees;
    const struct writer_run_part *parts;
    struct process *processes;
    size_t count;
    struct fork_row *forks; /* of all processes, by parent */
    struct writer_columns columns;
    struct row_batch *batch; /* the columns of a chunk that are wanted */
    uint64_t chunk;          /* its number + 1, 0: none */
    struct writer_free *read;
    int64_t *results;
    size_t result_capacity;
    sqlite3_stmt *insert, *problem, *update;
    unsigned problems;
    uint64_t unmatched, twice, unseen, inherited, presumed;
};

static bool fail_memory(const struct pairing *pairing)
{
    return ingest_fail_memory(pairing->session->status, "the blocks that processes inherited");
}

bool writer_inherited_add(struct writer_run *run, const struct writer_value *values)
{
    const struct writer_run_rows *rows = &run->rows;
    const uint64_t stack = (uint64_t)values[5].number;
    const struct writer_free row = {
        .arena = (uint32_t)values[1].number,
        .address = (uint64_t)values[2].number,
        .ns = (uint64_t)values[3].number + rows->later_ns,
        .thread = (uint32_t)((uint64_t)values[4].number + rows->first_thread),
        .stack = stack == 0 ? 0 : (uint32_t)(stack + rows->first_stack),
        .realloc_to = values[6].type == VALUE_NULL ? 0 : (uint64_t)values[6].number,
    };
    return writer_records_add(&run->frees, &row);
}

int writer_inherited_fork(sqlite3 *database, uint64_t trace_id, uint64_t begin_ns, uint64_t end_ns)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(
        database, "UPDATE process SET forked_ns = ?2, forked_until_ns = ?3 WHERE trace_id = ?1", -1,
        &update, NULL);
    if (result != SQLITE_OK)
        return result;
    sqlite3_bind_int64(update, 1, (int64_t)trace_id);
    sqlite3_bind_int64(update, 2, (int64_t)begin_ns);
    sqlite3_bind_int64(update, 3, (int64_t)end_ns);
    sqlite3_step(update);
    return sqlite3_finalize(update);
}

/* ---- the processes --------------------------------------------------------------------------- */

static void read_process(struct pairing *pairing, sqlite3_stmt *query, size_t index)
{
    struct process *process = &pairing->processes[index];
    const struct writer_run_part *part = &pairing->parts[index];
    const uint64_t next =
        index + 1 < pairing->count ? part[1].first_free : writer_records_count(pairing->frees);
    const int64_t parent = sqlite3_column_int64(query, 0);
    *process = (struct process){
        .parent = parent > 0 && (size_t)parent <= index ? &pairing->processes[parent - 1] : NULL,
        .inherits = sqlite3_column_int64(query, 1) != 0,
        .first_id = (uint64_t)sqlite3_column_int64(query, 2),
        .last_id = (uint64_t)sqlite3_column_int64(query, 3),
        .forked = sqlite3_column_type(query, 4) != SQLITE_NULL,
        .forked_ns = (uint64_t)sqlite3_column_int64(query, 4),
        .until_ns = (uint64_t)sqlite3_column_int64(query, 5),
        .is_rested = sqlite3_column_int64(query, 6) != 0,
        .first_free = part->first_free,
        .free_count = next - part->first_free,
    };
    const struct process *above = process->parent;
    process->is_whole = above && (!above->inherits || above->is_whole);
    process->is_rested = process->is_rested || (above && above->is_rested);
}

static int compare_forks(const void *a, const void *b)
{
    const struct fork_row *x = a, *y = b;
    return ORDER(x->child->parent, y->child->parent) ?: ORDER(x->ns, y->ns) ?:
           ORDER(x->child, y->child);
}

/* Gives each process its forks, and tells it about its descendants, which come after it. */
static void join_processes(struct pairing *pairing)
{
    size_t forks = 0;
    for (size_t i = pairing->count; i-- > 0;) {
        struct process *process = &pairing->processes[i], *parent = process->parent;
        if (!parent)
            continue;
        parent->frees_below += process->free_count + process->frees_below;
        const size_t last = process->last_below ? process->last_below : i;
        parent->last_below = parent->last_below > last ? parent->last_below : last;
        pairing->forks[forks++] = (struct fork_row){.child = process, .ns = process->forked_ns};
    }
    qsort(pairing->forks, forks, sizeof(*pairing->forks), compare_forks);
    for (size_t i = 0; i < forks; i++) {
        struct fork_row *row = &pairing->forks[i];
        struct process *parent = row->child->parent;
        const uint64_t until = row->child->forked ? row->child->until_ns : UINT64_MAX;
        const bool is_first = parent->fork_count++ == 0;
        if (is_first)
            parent->forks = row;
        row->last_until = !is_first && row[-1].last_until > until ? row[-1].last_until : until;
    }
}

static bool read_processes(struct pairing *pairing)
{
    sqlite3_stmt *query = NULL;
    size_t index = 0;
    int result =
        sqlite3_prepare_v2(pairing->session->sqlite, inherited_processes_sql, -1, &query, NULL);
    while (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW && index < pairing->count)
        read_process(pairing, query, index++);
    sqlite3_finalize(query);
    if (result != SQLITE_OK || index != pairing->count)
        return writer_database_fail(pairing->session, NULL);
    join_processes(pairing);
    return true;
}

static void free_process(struct process *process)
{
    FREE_ALL(process->places, process->blocks);
    index_map_free(&process->place_map);
    index_map_free(&process->block_map);
    process->places = NULL;
    process->blocks = NULL;
    process->place_count = process->block_count = 0;
}

/* ---- places and blocks ----------------------------------------------------------------------- */

static uint64_t hash_place(uint64_t address, uint32_t arena)
{
    return hash_combine(hash_combine(hash_seed(), address), arena);
}

static struct place *find_place(const struct process *process, uint64_t address, uint32_t arena)
{
    const uint64_t hash = hash_place(address, arena);
    INDEX_MAP_EACH(&process->place_map, hash, index)
        if (process->places[index].address == address && process->places[index].arena == arena)
            return &process->places[index];
    return NULL;
}

static bool add_place(struct process *process, const struct writer_free *row)
{
    struct place *known = find_place(process, row->address, row->arena);
    if (known) {
        known->freed_ns = row->ns < known->freed_ns ? row->ns : known->freed_ns;
        return true;
    }
    const size_t index = process->place_count;
    if (index >= INDEX_NONE || !ARRAY_RESERVE(process->places, index, process->place_capacity) ||
        !index_map_insert(&process->place_map, hash_place(row->address, row->arena),
                          (uint32_t)index))
        return false;
    process->places[process->place_count++] =
        (struct place){row->address, row->arena, row->ns, UINT64_MAX};
    return true;
}

static struct block *first_block(const struct process *process, uint64_t address, uint32_t arena)
{
    const uint64_t hash = hash_place(address, arena);
    INDEX_MAP_EACH(&process->block_map, hash, index)
        if (process->blocks[index].address == address && process->blocks[index].arena == arena)
            return &process->blocks[index];
    return NULL;
}

static bool add_block(struct process *process, struct block *block)
{
    const size_t index = process->block_count;
    if (index >= INDEX_NONE || !ARRAY_RESERVE(process->blocks, index, process->block_capacity))
        return false;
    struct block *first = first_block(process, block->address, block->arena);
    if (first) {
        block->before = first->last;
        first->last = (uint32_t)index + 1;
    } else {
        block->last = (uint32_t)index + 1;
        if (!index_map_insert(&process->block_map, hash_place(block->address, block->arena),
                              (uint32_t)index))
            return false;
    }
    process->blocks[process->block_count++] = *block;
    return true;
}

/* Finds the block of `process` at the address that was live at some moment from `begin` to `end`.
 * Rows are in the order of time. If two had the address during a fork, the first one was live when
 * the fork began. */
static struct block *find_block(const struct process *process, const struct writer_free *row,
                                uint64_t begin, uint64_t end)
{
    const struct block *first = first_block(process, row->address, row->arena);
    struct block *found = NULL;
    for (uint32_t at = first ? first->last : 0; at != 0; at = process->blocks[at - 1].before) {
        struct block *block = &process->blocks[at - 1];
        if (block->begin <= end && block->end >= begin)
            found = block;
    }
    return found;
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* Returns the index of the first fork at or after `ns`. */
static size_t first_fork(const struct process *process, uint64_t ns)
{
    size_t low = 0;
    ARRAY_BISECT(low, process->fork_count, process->forks[middle].ns < ns);
    return low;
}

static void count_block(struct process *process, const struct block *block)
{
    const size_t from = first_fork(process, block->begin), to = first_fork(process, block->end);
    if (from >= to)
        return;
    process->forks[from].own_count++;
    process->forks[from].own_bytes += (int64_t)block->size;
    if (to < process->fork_count) {
        process->forks[to].own_count--;
        process->forks[to].own_bytes -= (int64_t)block->size;
    }
}

/* Returns true if the block was live at a moment of a fork. */
static bool met_fork(const struct process *process, const struct block *block)
{
    const size_t begun =
        block->end == UINT64_MAX ? process->fork_count : first_fork(process, block->end + 1);
    return begun > 0 && process->forks[begun - 1].last_until >= block->begin;
}

static bool read_chunk(struct pairing *pairing, uint64_t chunk)
{
    static const enum column wanted[] = {COLUMN_LIFE_NS, COLUMN_ALLOC_NS, COLUMN_ADDRESS,
                                         COLUMN_SIZE, COLUMN_ARENA};
    struct row_batch *batch = pairing->batch;
    if (pairing->chunk == chunk + 1)
        return true;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const uint64_t *life = wanted[i] == COLUMN_ALLOC_NS ? batch->column[COLUMN_LIFE_NS] : NULL;
        const size_t rows = writer_columns_read(&pairing->columns, chunk, wanted[i], life,
                                                batch->column[wanted[i]]);
        if (rows == 0 || (i > 0 && rows != batch->rows))
            return writer_database_fail(pairing->session, "its columns cannot be read");
        batch->rows = rows;
    }
    pairing->chunk = chunk + 1;
    return true;
}

static bool see_row(struct process *process, const struct row_batch *batch, size_t i,
                    uint64_t first_arena)
{
    const uint64_t life = batch->column[COLUMN_LIFE_NS][i];
    const uint64_t arena = batch->column[COLUMN_ARENA][i];
    struct block block = {
        .address = batch->column[COLUMN_ADDRESS][i],
        .arena = arena == 0 ? 0 : (uint32_t)(arena - first_arena),
        .begin = batch->column[COLUMN_ALLOC_NS][i],
        .size = batch->column[COLUMN_SIZE][i],
    };
    block.end = life == 0 ? UINT64_MAX : block.begin + life - 1;
    struct place *place =
        process->place_count > 0 ? find_place(process, block.address, block.arena) : NULL;
    if (place)
        place->own_ns = block.begin < place->own_ns ? block.begin : place->own_ns;
    if (process->fork_count == 0)
        return true;
    if (block.arena == 0)
        count_block(process, &block);
    if (process->frees_below == 0 || !met_fork(process, &block))
        return true;
    block.id = batch->first_id + i;
    return add_block(process, &block);
}

/* Looks at the rows of a process that forked or freed what it may have inherited. */
static bool see_rows(struct pairing *pairing, struct process *process, uint64_t first_arena)
{
    struct row_batch *batch = pairing->batch;
    if (process->fork_count == 0 && process->place_count == 0)
        return true;
    for (uint64_t id = process->first_id; id != 0 && id <= process->last_id;) {
        const uint64_t chunk = (id - 1) / COLUMN_CHUNK_ROWS;
        if (writer_database_interrupted(pairing->session))
            return writer_database_fail(pairing->session, NULL);
        if (!read_chunk(pairing, chunk))
            return false;
        batch->first_id = chunk * COLUMN_CHUNK_ROWS + 1;
        const uint64_t next = batch->first_id + batch->rows;
        for (; id <= process->last_id && id < next; id++)
            if (!see_row(process, batch, (size_t)(id - batch->first_id), first_arena))
                return fail_memory(pairing);
        if (batch->rows < COLUMN_CHUNK_ROWS)
            break;
    }
    return true;
}

/* ---- the frees ------------------------------------------------------------------------------- */

static bool each_free(struct pairing *pairing, struct process *process,
                      bool (*each)(struct pairing *pairing, struct process *process,
                                   const struct writer_free *row, size_t index))
{
    size_t count;
    for (uint64_t done = 0; done < process->free_count; done += count) {
        const uint64_t left = process->free_count - done;
        count = left < WRITER_RECORDS_MAX ? (size_t)left : WRITER_RECORDS_MAX;
        if (writer_database_interrupted(pairing->session))
            return writer_database_fail(pairing->session, NULL);
        if (!writer_records_read(pairing->frees, process->first_free + done, count, pairing->read))
            return writer_database_fail(pairing->session, strerror(pairing->frees->error));
        for (size_t i = 0; i < count; i++)
            if (!each(pairing, process, &pairing->read[i], (size_t)done + i))
                return false;
    }
    return true;
}

static bool note_place(struct pairing *pairing, struct process *process,
                       const struct writer_free *row, size_t index)
{
    return add_place(process, row) || fail_memory(pairing);
}

/* Counts for the later forks that the process had freed a block that it had inherited. */
static void lose(struct process *process, uint64_t ns, const struct block *block, int sign)
{
    const size_t from = first_fork(process, ns);
    if (from == process->fork_count)
        return;
    process->forks[from].lost_count += sign;
    process->forks[from].lost_bytes += sign * (int64_t)block->size;
}

/* Gives the block to the free, or to an earlier one of the same process. `child` is the one that
 * the block's process forked. */
static void take_block(struct pairing *pairing, struct process *process, struct block *block,
                       const struct process *child, const struct writer_free *row, size_t index)
{
    const uint32_t id = (uint32_t)(process - pairing->processes) + 1;
    const bool is_counted = block->arena == 0 && child->forked &&
                            block->begin <= child->forked_ns && block->end > child->forked_ns;
    if (block->process == id) {
        if (block->free_ns <= row->ns) {
            pairing->results[index] = RESULT_TWICE;
            return;
        }
        pairing->results[block->free] = RESULT_TWICE;
        if (is_counted)
            lose(process, block->free_ns, block, -1);
    }
    block->process = id;
    block->free = index;
    block->free_ns = row->ns;
    pairing->results[index] = (int64_t)block->id;
    if (is_counted)
        lose(process, row->ns, block, 1);
}

/* Finds the block of a free: that of the nearest ancestor. */
static bool pair_free(struct pairing *pairing, struct process *process,
                      const struct writer_free *row, size_t index)
{
    const struct place *own = find_place(process, row->address, row->arena);
    pairing->results[index] = RESULT_NONE;
    if (own->own_ns < row->ns) {
        pairing->results[index] = RESULT_TWICE;
        return true;
    }
    const struct process *child = process;
    for (struct process *above = process->parent; above; child = above, above = above->parent) {
        struct block *block =
            find_block(above, row, child->forked_ns, child->forked ? child->until_ns : row->ns);
        if (block) {
            take_block(pairing, process, block, child, row, index);
            break;
        }
        /* It had freed the block of a more distant ancestor before it forked. */
        const struct place *place = find_place(above, row->address, row->arena);
        if (place && child->forked && place->freed_ns < child->forked_ns)
            break;
    }
    return true;
}

/* Writes a free as a row, or counts it as one of no inherited block. */
static bool put_free(struct pairing *pairing, struct process *process,
                     const struct writer_free *row, size_t index)
{
    const size_t part = (size_t)(process - pairing->processes);
    const int64_t result = pairing->results[index];
    const bool is_twice = result == RESULT_TWICE;
    sqlite3_stmt *insert = pairing->insert;
    if (is_twice || (result == RESULT_NONE && process->is_whole)) {
        uint64_t *count = is_twice             ? &pairing->twice
                          : process->is_rested ? &pairing->unseen
                                               : &pairing->unmatched;
        ++*count;
        if (count == &pairing->unseen || pairing->problems == PROBLEMS_KEPT_PER_KIND)
            return true;
        pairing->problems++;
        insert = pairing->problem;
        sqlite3_bind_text(insert, 1, is_twice ? "double free" : "unmatched free", -1,
                          SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, (int64_t)row->ns);
        sqlite3_bind_int64(insert, 3, (int64_t)row->address);
        sqlite3_bind_int64(insert, 4, row->thread);
        sqlite3_bind_text(insert, 5,
                          is_twice ? "freed before, and not allocated in between"
                                   : "not seen to be allocated: neither here nor in the process "
                                     "that forked this one",
                          -1, SQLITE_STATIC);
    } else {
        pairing->inherited++;
        pairing->presumed += result == RESULT_NONE;
        sqlite3_bind_int64(insert, 1, (int64_t)(process->first_free + index) + 1);
        sqlite3_bind_int64(insert, 2, (int64_t)part + 1);
        sqlite3_bind_int64(
            insert, 3,
            row->arena == 0 ? 0 : (int64_t)(row->arena + pairing->parts[part].first_arena));
        sqlite3_bind_int64(insert, 4, (int64_t)row->address);
        sqlite3_bind_int64(insert, 5, (int64_t)row->ns);
        sqlite3_bind_int64(insert, 6, row->thread);
        sqlite3_bind_int64(insert, 7, row->stack);
        if (row->realloc_to != 0)
            sqlite3_bind_int64(insert, 8, (int64_t)row->realloc_to);
        else
            sqlite3_bind_null(insert, 8);
        if (result != RESULT_NONE)
            sqlite3_bind_int64(insert, 9, result);
        else
            sqlite3_bind_null(insert, 9);
    }
    sqlite3_step(insert);
    return writer_database_check(pairing->session, sqlite3_reset(insert));
}

/* ---- all processes --------------------------------------------------------------------------- */

/* Sums up what each child inherited: the blocks of the process itself that were live at the fork,
 * and those that it had inherited and not freed by then. A block that was allocated in the middle
 * of the process's own fork is none of these. */
static void sum_forks(struct process *process)
{
    struct fork_row sum = {0};
    for (size_t i = 0; i < process->fork_count; i++) {
        const struct fork_row *row = &process->forks[i];
        struct process *child = (struct process *)row->child;
        sum.own_count += row->own_count;
        sum.own_bytes += row->own_bytes;
        sum.lost_count += row->lost_count;
        sum.lost_bytes += row->lost_bytes;
        child->has_sum = !process->inherits || process->has_sum;
        child->inherited_count = sum.own_count;
        child->inherited_bytes = sum.own_bytes;
        if (process->inherits) {
            child->inherited_count += process->inherited_count - sum.lost_count;
            child->inherited_bytes += process->inherited_bytes - sum.lost_bytes;
        }
    }
}

static bool update_process(struct pairing *pairing, size_t index, uint64_t frees)
{
    const struct process *process = &pairing->processes[index];
    sqlite3_stmt *update = pairing->update;
    sqlite3_bind_int64(update, 1, (int64_t)index + 1);
    sqlite3_bind_int64(update, 2, (int64_t)frees);
    if (process->has_sum) {
        sqlite3_bind_int64(update, 3, process->inherited_count);
        sqlite3_bind_int64(update, 4, process->inherited_bytes);
    } else {
        sqlite3_bind_null(update, 3);
        sqlite3_bind_null(update, 4);
    }
    sqlite3_step(update);
    return writer_database_check(pairing->session, sqlite3_reset(update));
}

static bool pair_process(struct pairing *pairing, size_t index)
{
    struct process *process = &pairing->processes[index];
    const uint64_t before = pairing->inherited;
    if (!array_reserve(&pairing->results, &pairing->result_capacity, (size_t)process->free_count,
                       sizeof(*pairing->results)))
        return fail_memory(pairing);
    if (!each_free(pairing, process, note_place) ||
        !see_rows(pairing, process, pairing->parts[index].first_arena) ||
        !each_free(pairing, process, pair_free) || !each_free(pairing, process, put_free))
        return false;
    sum_forks(process);
    if (process->last_below == 0)
        free_process(process);
    for (struct process *above = process->parent; above && above->last_below == index;
         above = above->parent)
        free_process(above);
    return !process->inherits || update_process(pairing, index, pairing->inherited - before);
}

static bool put_counts(const struct pairing *pairing)
{
    char sql[512];
    snprintf(sql, sizeof(sql),
             "UPDATE meta SET value = value + %" PRIu64 " WHERE key = 'unmatched_frees';"
             "UPDATE meta SET value = value + %" PRIu64 " WHERE key = 'double_frees';"
             "UPDATE meta SET value = value + %" PRIu64 " WHERE key = 'unseen_frees';"
             "INSERT OR REPLACE INTO meta VALUES ('inherited_frees', %" PRIu64 "),"
             " ('presumed_inherited_frees', %" PRIu64 ")",
             pairing->unmatched, pairing->twice, pairing->unseen, pairing->inherited,
             pairing->presumed);
    return writer_database_run(pairing->session, sql);
}

static bool prepare(struct pairing *pairing)
{
    sqlite3 *sqlite = pairing->session->sqlite;
    pairing->batch = malloc(sizeof(*pairing->batch));
    pairing->read = malloc(WRITER_RECORDS_MAX * sizeof(*pairing->read));
    pairing->processes = calloc(pairing->count + 1, sizeof(*pairing->processes));
    pairing->forks = calloc(pairing->count + 1, sizeof(*pairing->forks));
    if (!pairing->batch || !pairing->read || !pairing->processes || !pairing->forks)
        return fail_memory(pairing);
    if (!writer_records_flush(pairing->frees))
        return writer_database_fail(pairing->session, strerror(pairing->frees->error));
    int result = writer_columns_begin(&pairing->columns, sqlite);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(sqlite, "INSERT INTO inherited_free VALUES (?,?,?,?,?,?,?,?,?)",
                                    -1, &pairing->insert, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(
            sqlite, "INSERT INTO problem(kind, ns, address, thread_id, detail) VALUES (?,?,?,?,?)",
            -1, &pairing->problem, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(sqlite, inherited_sums_sql, -1, &pairing->update, NULL);
    return writer_database_check(pairing->session, result);
}

bool writer_inherited_put(struct writer_database *session, struct writer_records *frees,
                          const struct writer_run_part *parts, size_t count)
{
    struct pairing pairing = {.session = session, .frees = frees, .parts = parts, .count = count};
    bool good = writer_database_run(session, inherited_parents_sql) && prepare(&pairing) &&
                read_processes(&pairing);
    for (size_t i = 0; good && i < count; i++)
        good = pair_process(&pairing, i);
    good = good && put_counts(&pairing);
    for (size_t i = 0; pairing.processes && i < count; i++)
        free_process(&pairing.processes[i]);
    sqlite3_finalize(pairing.insert);
    sqlite3_finalize(pairing.problem);
    sqlite3_finalize(pairing.update);
    writer_columns_close(&pairing.columns);
    FREE_ALL(pairing.processes, pairing.forks, pairing.batch, pairing.read, pairing.results);
    return good;
}
