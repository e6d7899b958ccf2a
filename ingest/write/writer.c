/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/base/array.h"
#include "ingest/base/output_file.h"
#include "ingest/base/stage.h"
#include "ingest/write/btree.h"
#include "ingest/write/columns.h"
#include "ingest/write/derived.h"
#include "ingest/write/inherited.h"
#include "ingest/write/packed.h"
#include "ingest/write/row_sample.h"
#include "ingest/write/rows.h"
#include "ingest/write/type_pairs.h"
#include "schemas/array.h"
#include "all_indexes_sql.h"
#include "estimate_sql.h"
#include "session_sql.h"
#include "statistics_sql.h"
#include "type_peaks_sql.h"
#include "writer_begin_sql.h"

/* ---- run rows ------------------------------------------------------------------------------ */

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
    if (!ARRAY_RESERVE(rows->known, rows->known_count, rows->known_capacity) ||
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

static struct row_batch *exchange_batch(void *context, struct row_batch *full)
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

static struct row_sink writer_run_rows_sink(struct writer_run_rows *rows)
{
    return (struct row_sink){rows, exchange_batch, rows->rows};
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
        FREE_ALL(rows->known[i].name, rows->known[i].element);
    }
    FREE_ALL(rows->known, rows->ids);
    index_map_free(&rows->by_name);
    *rows = (struct writer_run_rows){.batch = NULL};
}

/* ---- writer -------------------------------------------------------------------------------- */

/* Writes the rows of `allocation` and their column chunks, as pages of a database file that SQLite
 * has made and closed.
 *
 * Order of calls: writer_allocation_pages_open(), writer_allocation_pages_put() for each batch in
 * order of ids, writer_allocation_pages_finish(), after which the file is a database again, and
 * always writer_allocation_pages_close(). */

/* Root pages of the trees that are filled; they must be empty. */
struct writer_roots {
    uint32_t allocation;
    uint32_t column_chunk; /* 0: no columns are wanted */
};

struct writer_allocation_pages {
    struct writer_pages pages;
    struct writer_btree allocation, column_chunk;
    struct writer_roots roots;
    struct writer_directory directory; /* of the chunks; kept until the end */
    uint64_t base;                     /* of the address codes; chosen by the first batch */
    uint8_t *packed; /* one column of one chunk, after room for the beginning of its record */
};

/* The stored columns of `allocation` after its id, in order. */
enum {
    ROW_SIZE,
    ROW_STACK,
    ROW_ALLOC_NS,
    ROW_ADDRESS_CODE,
    ROW_LIVED_NS,
    ROW_THREAD,
    ROW_TYPE,
    ROW_KIND,
    ROW_COUNT,
    ROW_FREED_BY,
    ROW_REALLOC_OF,
    ROW_FREE_STACK,
    ROW_ARENA,
    ROW_ALIGNMENT,
    ROW_WHOLE_ADDRESS,
    ROW_FIELDS,
    ROW_FIELDS_LEAST = ROW_ADDRESS_CODE, /* those before have no default in the schema */
    ROW_MOST = 2 + 9 * ROW_FIELDS        /* bytes of a record */
};

/* Values of a row of `column_chunk`, and room for all of its record but the blob. */
enum { CHUNK_VALUES = 6, CHUNK_HEAD = 64 };

/* Begins. The caller keeps `descriptor`. False with writer_allocation_pages_error() set. */
static bool writer_allocation_pages_open(struct writer_allocation_pages *tables, int descriptor,
                                         struct writer_roots roots)
{
    *tables = (struct writer_allocation_pages){.roots = roots};
    if (!writer_pages_open(&tables->pages, descriptor, WRITER_LOCK_BYTE))
        return false;
    writer_btree_open(&tables->allocation, &tables->pages, roots.allocation, WRITER_BTREE_TABLE);
    writer_btree_open(&tables->column_chunk, &tables->pages, roots.column_chunk,
                      WRITER_BTREE_TABLE);
    tables->packed = malloc(CHUNK_HEAD + column_data_most(COLUMN_CHUNK_ROWS));
    if (!tables->packed)
        tables->pages.error = ENOMEM;
    return tables->packed != NULL;
}

static void writer_allocation_pages_close(struct writer_allocation_pages *tables)
{
    writer_btree_close(&tables->allocation);
    writer_btree_close(&tables->column_chunk);
    writer_pages_close(&tables->pages);
    writer_directory_free(&tables->directory);
    free(tables->packed);
    tables->packed = NULL;
}

/* Returns the message of the first error. */
static const char *writer_allocation_pages_error(const struct writer_allocation_pages *tables)
{
    return strerror(tables->pages.error);
}

/* An address code takes three bytes within 64 MiB of the base. Heaps grow upward: the base lies
 * above the blocks of the first batch. Codes are unique for addresses below this limit. */
#define BASE_ABOVE (UINT64_C(32) << 20)
#define ADDRESS_CODE_LIMIT (UINT64_C(1) << 62)

/* Returns a multiple of 16 near the middle one of some addresses of the batch. */
static uint64_t choose_base(const struct row_batch *batch)
{
    enum { ASKED = 255 };
    uint64_t some[ASKED];
    const size_t count = batch->rows < ASKED ? batch->rows : ASKED;
    for (size_t i = 0; i < count; i++)
        some[i] = batch->column[COLUMN_ADDRESS][i * batch->rows / count];
    qsort(some, count, sizeof(some[0]), compare_uint64);
    const uint64_t middle = count == 0 ? 0 : some[count / 2];
    return middle >= ADDRESS_CODE_LIMIT - BASE_ABOVE ? 0 : (middle & ~UINT64_C(15)) + BASE_ABOVE;
}

/* Fills the values of row `i`. Returns which of them are NULL, as bits. */
static uint32_t row_values(const struct row_batch *batch, size_t i, uint64_t base, int64_t *values)
{
    static const enum column columns[ROW_FIELDS] = {
        [ROW_SIZE] = COLUMN_SIZE,
        [ROW_STACK] = COLUMN_STACK,
        [ROW_ALLOC_NS] = COLUMN_ALLOC_NS,
        [ROW_ADDRESS_CODE] = COLUMN_ADDRESS,
        [ROW_LIVED_NS] = COLUMN_LIFE_NS,
        [ROW_THREAD] = COLUMN_THREAD,
        [ROW_TYPE] = COLUMN_TYPE,
        [ROW_KIND] = COLUMN_KIND,
        [ROW_COUNT] = COLUMN_COUNT_OF_OBJECTS,
        [ROW_FREED_BY] = COLUMN_FREE_THREAD,
        [ROW_REALLOC_OF] = COLUMN_REALLOC_OF,
        [ROW_FREE_STACK] = COLUMN_FREE_STACK,
        [ROW_ARENA] = COLUMN_ARENA,
        [ROW_ALIGNMENT] = COLUMN_ALIGNMENT,
        [ROW_WHOLE_ADDRESS] = COLUMN_ADDRESS,
    };
    for (size_t k = 0; k < ROW_FIELDS; k++)
        values[k] = (int64_t)batch->column[columns[k]][i];
    int64_t *const code = &values[ROW_ADDRESS_CODE];
    const bool whole = (uint64_t)*code >= ADDRESS_CODE_LIMIT, live = values[ROW_LIVED_NS] == 0;
    if (!whole) {
        *code -= (int64_t)base;
        *code = *code % 16 == 0 ? *code / 8 : *code * 2 + 1;
    }
    values[ROW_LIVED_NS] = (int64_t)((uint64_t)values[ROW_LIVED_NS] - 1);
    return (uint32_t)whole << ROW_ADDRESS_CODE | (uint32_t)!whole << ROW_WHOLE_ADDRESS |
           (uint32_t)live << ROW_LIVED_NS |
           (uint32_t)(live || values[ROW_FREED_BY] == values[ROW_THREAD]) << ROW_FREED_BY |
           (uint32_t)(values[ROW_REALLOC_OF] == 0) << ROW_REALLOC_OF |
           (uint32_t)(values[ROW_FREE_STACK] == 0) << ROW_FREE_STACK;
}

/* Encodes row `i` of the batch as a record of `allocation`. Returns its length. */
static size_t encode_row(const struct row_batch *batch, size_t i, uint64_t base, uint8_t *record)
{
    /* A row leaves these values out at its end, and NULL. -1: none. */
    static const int8_t left_out[ROW_FIELDS] = {
        [ROW_ADDRESS_CODE] = -1,  [ROW_LIVED_NS] = -1,   [ROW_THREAD] = 1,
        [ROW_COUNT] = 1,          [ROW_REALLOC_OF] = -1, [ROW_FREE_STACK] = -1,
        [ROW_WHOLE_ADDRESS] = -1, [ROW_FREED_BY] = -1,
    };
    int64_t values[ROW_FIELDS];
    const uint32_t nulls = row_values(batch, i, base, values);
    size_t count = ROW_FIELDS;
    while (count > ROW_FIELDS_LEAST &&
           ((nulls >> (count - 1) & 1) != 0 ||
            (left_out[count - 1] >= 0 && values[count - 1] == left_out[count - 1])))
        count--;
    uint8_t *type = record, *data = record + 2 + count;
    *type++ = (uint8_t)(2 + count);
    *type++ = SERIAL_NULL; /* the id is the row's number */
    for (size_t k = 0; k < count; k++, type++) {
        if ((nulls >> k & 1) != 0)
            *type = SERIAL_NULL;
        else
            data = writer_put_number(type, data, values[k]);
    }
    return (size_t)(data - record);
}

/* Puts the record's beginning before the blob at packed + CHUNK_HEAD. Returns the record. */
static uint8_t *head_chunk(struct writer_allocation_pages *tables, const int64_t *values,
                           size_t blob_length)
{
    uint8_t header[16], data[CHUNK_HEAD], *type = header + 1, *end = data;
    *type++ = SERIAL_NULL;
    for (size_t i = 0; i < CHUNK_VALUES - 2; i++)
        end = writer_put_number(type++, end, values[i]);
    type = writer_put_varint(type, writer_serial_blob(blob_length));
    size_t header_length = (size_t)(type - header), data_length = (size_t)(end - data);
    header[0] = (uint8_t)header_length;
    uint8_t *record = tables->packed + CHUNK_HEAD - data_length - header_length;
    memcpy(record, header, header_length);
    memcpy(record + header_length, data, data_length);
    return record;
}

static bool put_chunk(struct writer_allocation_pages *tables, const struct row_batch *batch,
                      unsigned column)
{
    struct row_batch_chunk chunk;
    row_batch_pack(batch, column, tables->packed + CHUNK_HEAD, &chunk);
    writer_directory_put(&tables->directory, &chunk);
    const int64_t row[CHUNK_VALUES - 2] = {(int64_t)batch->rows, chunk.width, (int64_t)chunk.min,
                                           (int64_t)chunk.max};
    uint8_t *record = head_chunk(tables, row, chunk.length);
    return writer_btree_put_row(&tables->column_chunk, chunk.id, record,
                                (size_t)(tables->packed + CHUNK_HEAD - record) + chunk.length);
}

static bool put_chunks(struct writer_allocation_pages *tables, const struct row_batch *batch)
{
    if (!writer_directory_begin(&tables->directory, batch)) {
        tables->pages.error = ENOMEM;
        return false;
    }
    bool good = true;
    for (unsigned column = 0; good && column < COLUMN_TOTAL; column++)
        good = put_chunk(tables, batch, column);
    return good;
}

static bool writer_allocation_pages_put(struct writer_allocation_pages *tables,
                                        const struct row_batch *batch)
{
    uint8_t record[ROW_MOST];
    bool good = true;
    if (batch->first_id == 1)
        tables->base = choose_base(batch);
    for (size_t i = 0; good && i < batch->rows; i++) {
        size_t length = encode_row(batch, i, tables->base, record);
        good = writer_btree_put_row(&tables->allocation, batch->first_id + i, record, length);
    }
    if (good && tables->roots.column_chunk != 0)
        good = put_chunks(tables, batch);
    return good;
}

/* Finishes the trees. */
static bool writer_allocation_pages_finish(struct writer_allocation_pages *tables)
{
    return writer_btree_finish(&tables->allocation) && writer_btree_finish(&tables->column_chunk) &&
           writer_pages_close(&tables->pages);
}

struct writer {
    struct output_file file;
    struct writer_options options;
    struct ingest_status *status;
    struct writer_database database;
    struct writer_allocation_pages allocation_pages;
    struct writer_user_rows user_rows;
    struct writer_directory directory;
    uint64_t base; /* of the address codes in the rows */
    struct {
        struct writer_frame_roots frames;
        uint32_t call_node, call_node_parent, stack_type, size_type, residency_stack;
    } roots; /* pages */
    struct writer_pages frame_pages;
    struct writer_frame_tables frames;

    struct stage *stage;           /* writes the rows. NULL: of a run */
    bool sampled;                  /* weights were put */
    struct row_sample *row_sample; /* NULL: none is taken */
    struct type_pairs type_pairs;
};

static bool open_database(struct writer *writer)
{
    /* SQLite does not count its memory, and so takes no lock for each allocation. If SQLite is in
     * use already, it refuses this, without harm. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (!writer_database_open(&writer->database, writer->file.part,
                              SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
        return false;
    return writer_database_run(&writer->database, writer_begin_sql);
}

/* Makes the empty session. Then the second thread has the file. */
static bool create_tables(struct writer *writer)
{
    char pragmas[160];
    snprintf(pragmas, sizeof(pragmas), "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             SESSION_APPLICATION_ID, SESSION_SCHEMA_VERSION);
    if (!open_database(writer) || !writer_database_run(&writer->database, pragmas) ||
        !writer_database_run(&writer->database, session_sql))
        return false;
    if (writer->options.run)
        return true;
    struct writer_roots roots = {writer_database_root(&writer->database, "allocation"),
                                 writer_database_root(&writer->database, "column_chunk")};
    writer->roots.frames.stack_node = writer_database_root(&writer->database, "stack_node");
    writer->roots.frames.stack_run = writer_database_root(&writer->database, "stack_run");
    writer->roots.call_node = writer_database_root(&writer->database, "call_node");
    writer->roots.call_node_parent = writer_database_root(&writer->database, "call_node_parent");
    writer->roots.stack_type = writer_database_root(&writer->database, "stack_type");
    writer->roots.size_type = writer_database_root(&writer->database, "size_type");
    writer->roots.residency_stack = writer_database_root(&writer->database, "residency_stack");
    if (!writer_database_run(&writer->database, "COMMIT"))
        return false;
    writer_database_close(&writer->database);
    return writer_allocation_pages_open(&writer->allocation_pages, writer->file.descriptor,
                                        roots) ||
           writer_database_fail(&writer->database,
                                writer_allocation_pages_error(&writer->allocation_pages));
}

/* Opens the session for all other tables, after its rows are written. The schema gets the number
 * from which the address codes count. */
static bool open_tables(struct writer *writer)
{
    char sql[256];
    snprintf(sql, sizeof(sql),
             "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
             "'(0 + ', '(%" PRIu64 " + ') WHERE name = 'allocation'; "
             "PRAGMA writable_schema = RESET",
             writer->base);
    return writer->database.sqlite ||
           (open_database(writer) && writer_database_run(&writer->database, sql));
}

static bool write_batch(void *context, void *full)
{
    struct writer *writer = context;
    const struct row_batch *batch = full;
    if (!writer_allocation_pages_put(&writer->allocation_pages, batch))
        return false;
    if (writer->row_sample)
        row_sample_add(writer->row_sample, batch);
    type_pairs_add(&writer->type_pairs, batch);
    return true;
}

static struct row_batch *exchange(void *context, struct row_batch *full)
{
    struct writer *writer = context;
    struct row_batch *batch = stage_exchange(writer->stage, full);
    if (!batch && !stage_settle(writer->stage))
        writer_database_fail(&writer->database,
                             writer_allocation_pages_error(&writer->allocation_pages));
    return batch;
}

struct row_sink writer_sink(struct writer *writer)
{
    return writer->options.run ? writer_run_rows_sink(&writer->options.run->rows)
                               : (struct row_sink){writer, exchange, 0};
}

bool writer_sample_rows(struct writer *writer, uint64_t duration_ns, uint64_t events)
{
    if (writer->options.run || events < ROW_SAMPLE_FEWEST)
        return true;
    writer->row_sample = row_sample_new(duration_ns);
    return writer->row_sample || ingest_fail_memory(writer->status, "a sample of the rows");
}

/* Writes the sample. All batches are empty now: one of them is the room to work in. */
static bool put_sample(struct writer *writer)
{
    if (!writer->row_sample)
        return true;
    struct row_batch *room = stage_exchange(writer->stage, NULL);
    return (room &&
            row_sample_put(writer->row_sample, writer->database.sqlite, room) == SQLITE_OK) ||
           writer_database_fail(&writer->database, NULL);
}

static bool begin(struct writer *writer, const char *target)
{
    if (!output_file_begin(&writer->file, target, writer->options.force, writer->status))
        return false;
    writer->database.name = writer->options.name ? writer->options.name : writer->file.target;
    return create_tables(writer);
}

struct writer *writer_open(const char *target, const struct writer_options *options,
                           struct ingest_status *status)
{
    struct writer *writer = calloc(1, sizeof(*writer));
    if (!writer) {
        ingest_fail_memory(status, "the session");
        return NULL;
    }
    writer->status = status;
    writer->options = *options;
    writer->database = (struct writer_database){
        .advice = " (is the disk full?); nothing was left behind",
        .interrupted = options->interrupted,
        .status = status,
    };
    if (!options->run &&
        !(writer->stage = stage_new(sizeof(struct row_batch), write_batch, writer)))
        ingest_fail_memory(status, "the session");
    else if (begin(writer, target))
        return writer;
    writer_close(writer);
    return NULL;
}

uint64_t writer_bytes(const struct writer *writer)
{
    struct stat about;
    return fstat(writer->file.descriptor, &about) == 0 ? (uint64_t)about.st_size : 0;
}

bool writer_rows_done(struct writer *writer)
{
    if (writer->options.run)
        return true;
    if (!stage_settle(writer->stage) || !writer_allocation_pages_finish(&writer->allocation_pages))
        return writer_database_fail(&writer->database,
                                    writer_allocation_pages_error(&writer->allocation_pages));
    writer->directory = writer->allocation_pages.directory;
    writer->base = writer->allocation_pages.base;
    writer->allocation_pages.directory = (struct writer_directory){.data = NULL};
    writer_allocation_pages_close(&writer->allocation_pages);
    if (!writer_pages_open(&writer->frame_pages, writer->file.descriptor, WRITER_LOCK_BYTE))
        return writer_database_fail(&writer->database, strerror(writer->frame_pages.error));
    writer_frame_tables_open(&writer->frames, &writer->frame_pages, writer->roots.frames);
    return true;
}

bool writer_sample_written(struct writer *writer, uint64_t duration_ns)
{
    if (writer->directory.rows < ROW_SAMPLE_FEWEST)
        return true;
    struct row_batch *batch = stage_exchange(writer->stage, NULL);
    writer->row_sample = row_sample_new(duration_ns);
    if (!batch || !writer->row_sample)
        return ingest_fail_memory(writer->status, "a sample of the rows");
    struct writer_columns columns;
    bool good = writer_columns_open(&columns, writer->file.part);
    for (uint64_t chunk = 0; good && chunk * COLUMN_CHUNK_ROWS < writer->directory.rows; chunk++) {
        good = writer_columns_read_batch(&columns, chunk, batch) &&
               !writer_database_interrupted(&writer->database);
        if (good)
            row_sample_add(writer->row_sample, batch);
    }
    writer_columns_close(&columns);
    return good || writer_database_fail(&writer->database, "its columns cannot be read");
}

bool writer_put_frame(struct writer *writer, const struct writer_frame *row)
{
    struct writer_run *run = writer->options.run;
    if (writer_database_interrupted(&writer->database))
        return writer_database_fail(&writer->database, NULL);
    if (run)
        return (row->is_run ? writer_frames_add_run(&run->frames, &row->run)
                            : writer_frames_add_node(&run->frames, &row->node)) ||
               writer_database_fail(&writer->database, strerror(run->frames.records.error));
    return (row->is_run ? writer_frame_tables_run(&writer->frames, &row->run)
                        : writer_frame_tables_node(&writer->frames, &row->node)) ||
           writer_database_fail(&writer->database, strerror(writer->frame_pages.error));
}

static bool put_node(void *writer, const struct stack_node_row *row)
{
    return writer_put_frame(writer, &(struct writer_frame){.node = *row});
}

static bool put_run(void *writer, const struct stack_run_row *row)
{
    return writer_put_frame(writer, &(struct writer_frame){.run = *row, .is_run = true});
}

bool writer_put_frames(struct writer *writer, const struct stack_nodes *nodes,
                       const struct stacks *stacks)
{
    return stack_nodes_each(nodes, stacks, put_node, writer) &&
           stack_nodes_runs(nodes, stacks, 0, put_run, writer);
}

/* Keeps the sums of a moment with the ids of the run. */
static bool keep_moment(struct writer_run *run, const struct residency_moment *moment)
{
    const uint32_t *types = run->rows.ids + run->rows.first_id;
    struct number_pair *order = malloc((moment->sum_count + 1) * sizeof(*order));
    bool good = order != NULL;
    run->moments++;
    for (size_t i = 0; good && i < moment->sum_count; i++) {
        const struct residency_sum *sum = &moment->sums[i];
        const uint64_t stack = sum->stack == 0 ? 0 : sum->stack + run->rows.first_stack;
        order[i] = (struct number_pair){stack << 32 | types[sum->type], i};
    }
    if (good)
        sort_pairs(order, moment->sum_count);
    for (size_t i = 0; good && i < moment->sum_count; i++) {
        uint64_t row[RESIDENCY_SUM_VALUES];
        residency_sum_values(&moment->sums[order[i].value], run->moments, row);
        row[1] = order[i].key >> 32;
        row[2] = (uint32_t)order[i].key;
        good = writer_records_add(&run->sums, row);
    }
    free(order);
    return good;
}

bool writer_put_moment_sums(struct writer *writer, const struct residency *residency)
{
    struct writer_run *run = writer->options.run;
    bool good = true;
    for (size_t i = 0; good && run && residency && i < residency->moment_count; i++)
        good = keep_moment(run, &residency->moments[i]);
    if (!good)
        return writer_database_fail(&writer->database,
                                    strerror(run->sums.error ? run->sums.error : ENOMEM));
    return run ||
           writer_residency_pages(residency, &writer->frame_pages, writer->roots.residency_stack) ||
           writer_database_fail(&writer->database, strerror(writer->frame_pages.error));
}

bool writer_put_run_moment_sums(struct writer *writer, struct writer_run *run)
{
    return writer_residency_rows_pages(&run->sums, &writer->frame_pages,
                                       writer->roots.residency_stack) ||
           writer_database_fail(&writer->database, strerror(writer->frame_pages.error));
}

bool writer_put_tree(struct writer *writer, const struct call_tree *tree,
                     const struct stack_usages *usages)
{
    return (writer_call_nodes_pages(tree, &writer->frame_pages, writer->roots.call_node,
                                    writer->roots.call_node_parent) &&
            type_pairs_pages(&writer->type_pairs, usages, &writer->frame_pages,
                             writer->roots.stack_type, writer->roots.size_type)) ||
           writer_database_fail(&writer->database, strerror(writer->frame_pages.error));
}

bool writer_put_stack_sums(struct writer *writer, const struct stack_nodes *nodes,
                           const struct stacks *stacks, const struct stack_usages *usages)
{
    if (writer->options.run)
        return true;
    struct call_tree tree = {.interrupted = writer->options.interrupted};
    bool good = call_tree_stacks(&tree, nodes, stacks, usages) && call_tree_finish(&tree);
    if (good)
        good = writer_put_tree(writer, &tree, usages);
    else if (writer_database_interrupted(&writer->database))
        writer_database_fail(&writer->database, NULL);
    else
        ingest_fail_memory(writer->status, "the tree of calls");
    call_tree_free(&tree);
    return good;
}

bool writer_frames_done(struct writer *writer)
{
    if (!writer->options.run) {
        const bool good = writer_frame_tables_finish(&writer->frames);
        writer_frame_tables_close(&writer->frames);
        if (!writer_pages_close(&writer->frame_pages) || !good)
            return writer_database_fail(&writer->database, strerror(writer->frame_pages.error));
    }
    return writer_database_interrupted(&writer->database)
               ? writer_database_fail(&writer->database, NULL)
               : open_tables(writer);
}

/* Returns true if a table is derived again from the rows of all parts. */
static bool is_derived(enum writer_table table)
{
    return table == WRITER_TIMELINE || table == WRITER_FUNCTION_TOTAL ||
           table == WRITER_TYPE_TOTAL || table == WRITER_SIZE_BIN || table == WRITER_SLOT_SUM ||
           table == WRITER_TILE;
}

static bool put_row(void *context, enum writer_table table, const struct writer_value *values,
                    size_t count)
{
    struct writer *writer = context;
    struct writer_run *run = writer->options.run;
    if (run && is_derived(table))
        return true;
    if (run && table == WRITER_INHERITED_FREE)
        return writer_inherited_add(run, values) ||
               writer_database_fail(&writer->database, strerror(run->frees.error));
    writer->sampled = writer->sampled || table == WRITER_SAMPLE_WEIGHT;
    return writer_database_insert(&writer->database, table, values, count);
}

struct table_sink writer_tables(struct writer *writer)
{
    return (struct table_sink){writer, put_row};
}

bool writer_fail(struct writer *writer, int error)
{
    return writer_database_fail(&writer->database, strerror(error));
}

struct writer_database *writer_database(struct writer *writer)
{
    return &writer->database;
}

static bool create_indexes(struct writer *writer)
{
    /* SQLite sorts the keys in runs of the size of the page cache. Runs that fit into the
     * processor's cache sort in less than half the time (measured: 10 M keys, 1 MB against 64). */
    static const char by_stack[] =
        "PRAGMA cache_size = -1000; CREATE INDEX allocation_stack ON allocation(stack_id, type_id)";
    return writer->options.index == WRITER_INDEX_NONE ||
           (writer_database_run(&writer->database, by_stack) &&
            (writer->options.index == WRITER_INDEX_STACK ||
             writer_database_run(&writer->database, all_indexes_sql)));
}

static bool put_packed(struct writer *writer)
{
    return writer_packed_put(writer->database.sqlite, &writer->directory) == SQLITE_OK ||
           writer_database_fail(&writer->database, NULL);
}

bool writer_commit(struct writer *writer)
{
    if (!writer->options.run &&
        (!put_sample(writer) || !writer_database_run(&writer->database, type_peaks_sql) ||
         (writer->sampled && !writer_database_run(&writer->database, estimate_sql)) ||
         !put_packed(writer) || !create_indexes(writer) ||
         !writer_references_put(&writer->database) ||
         !writer_database_run(&writer->database, statistics_sql) ||
         !writer_user_rows_copy(&writer->user_rows, &writer->database, writer->file.target,
                                &writer->options)))
        return false;
    if (!writer_database_run(&writer->database, "COMMIT"))
        return false;
    writer_database_close(&writer->database);
    if (writer_database_interrupted(&writer->database))
        return writer_database_fail(&writer->database, NULL);
    return output_file_finish_database(&writer->file, writer->status);
}

void writer_close(struct writer *writer)
{
    if (!writer)
        return;
    stage_free(writer->stage);
    writer_allocation_pages_close(&writer->allocation_pages);
    writer_directory_free(&writer->directory);
    writer_frame_tables_close(&writer->frames);
    writer_pages_close(&writer->frame_pages);
    writer_user_rows_release(&writer->user_rows);
    writer_database_close(&writer->database);
    output_file_end(&writer->file);
    row_sample_free(writer->row_sample);
    type_pairs_free(&writer->type_pairs);
    free(writer);
}
