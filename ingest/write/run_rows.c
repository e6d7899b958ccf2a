/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/run_rows.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* Returns the session's id of a type, which is new or known. The types of the first process are all
 * new. 0: memory is exhausted. */
static uint32_t find_type(struct writer_run_rows *rows, const struct type_row *type)
{
    const uint64_t hash = hash_combine(hash_text(type->name), type->size);
    size_t probe = index_map_begin(&rows->by_name, hash);
    uint32_t index;
    while (rows->first_id != 0 &&
           (index = index_map_next(&rows->by_name, hash, &probe)) != INDEX_NONE) {
        const struct run_type *known = &rows->known[index];
        if (known->size == type->size && known->confidence == type->confidence &&
            same_text(known->name, type->name) && same_text(known->element, type->element))
            return index + 1;
    }
    if (!array_reserve(&rows->known, &rows->known_capacity, rows->known_count + 1,
                       sizeof(*rows->known)) ||
        !index_map_insert(&rows->by_name, hash, (uint32_t)rows->known_count))
        return 0;
    const struct run_type added = {copy(type->name), copy(type->element), type->size,
                                   type->confidence};
    rows->known[rows->known_count++] = added;
    return (added.name || !type->name) && (added.element || !type->element)
               ? (uint32_t)rows->known_count
               : 0;
}

/* Gives ids to the types that the process has got since the last call. */
static void join_types(struct writer_run_rows *rows)
{
    const size_t count = rows->types->count;
    if (!array_reserve(&rows->ids, &rows->id_capacity, rows->first_id + count,
                       sizeof(*rows->ids))) {
        rows->failed = true;
        return;
    }
    for (size_t i = rows->id_count - rows->first_id; i < count; i++) {
        const uint32_t id = i == 0 ? 0 : find_type(rows, &rows->types->rows[i]);
        rows->failed = rows->failed || (i != 0 && id == 0);
        rows->ids[rows->id_count++] = id;
    }
}

void writer_run_rows_begin(struct writer_run_rows *rows, const struct type_table *types)
{
    rows->types = types;
    rows->first_id = rows->id_count;
}

/* Adds `first` to all ids but 0. */
static void shift(uint64_t *ids, size_t begin, size_t end, uint64_t first)
{
    for (size_t i = begin; i < end; i++)
        ids[i] += ids[i] != 0 ? first : 0;
}

/* Gives the process's rows of the batch the session's time and ids. */
static void join_rows(struct writer_run_rows *rows, struct row_batch *batch)
{
    const size_t begin = rows->joined, end = batch->rows;
    const uint32_t *types = rows->ids + rows->first_id;
    shift(batch->column[COLUMN_STACK], begin, end, rows->first_stack);
    shift(batch->column[COLUMN_FREE_STACK], begin, end, rows->first_stack);
    shift(batch->column[COLUMN_THREAD], begin, end, rows->first_thread);
    shift(batch->column[COLUMN_FREE_THREAD], begin, end, rows->first_thread);
    shift(batch->column[COLUMN_ARENA], begin, end, rows->first_arena);
    for (size_t i = begin; i < end; i++) {
        batch->column[COLUMN_ALLOC_NS][i] += rows->later_ns;
        batch->column[COLUMN_TYPE][i] = types[batch->column[COLUMN_TYPE][i]];
    }
    rows->rows += end - begin;
    rows->joined = end;
}

static struct row_batch *exchange(void *context, struct row_batch *full)
{
    struct writer_run_rows *rows = context;
    if (full) {
        join_types(rows);
        if (rows->failed)
            return NULL;
        join_rows(rows, full);
    }
    if (!rows->batch || (full && full->rows == COLUMN_CHUNK_ROWS)) {
        rows->batch = rows->sink.exchange(rows->sink.context, full);
        rows->joined = 0;
        if (rows->batch)
            rows->batch->rows = 0;
    }
    return rows->batch;
}

struct row_sink writer_run_rows_sink(struct writer_run_rows *rows)
{
    return (struct row_sink){rows, exchange, rows->rows};
}

bool writer_run_rows_end(struct writer_run_rows *rows)
{
    join_types(rows);
    rows->types = NULL;
    return !rows->failed;
}

bool writer_run_rows_finish(struct writer_run_rows *rows)
{
    if (!rows->batch || rows->batch->rows == 0)
        return true;
    rows->batch = rows->sink.exchange(rows->sink.context, rows->batch);
    return rows->batch != NULL;
}

void writer_run_rows_free(struct writer_run_rows *rows)
{
    for (size_t i = 0; i < rows->known_count; i++) {
        free(rows->known[i].name);
        free(rows->known[i].element);
    }
    free(rows->known);
    free(rows->ids);
    index_map_free(&rows->by_name);
    *rows = (struct writer_run_rows){.batch = NULL};
}
