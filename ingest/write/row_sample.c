/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/row_sample.h"

#include <float.h>
#include <stdlib.h>

#include "ingest/base/array.h"

/* KEPT rows stay in each sample; it is cut back to them when it has ROOM. */
enum { SAMPLES = 3, KEPT = 1 << 18, ROOM = KEPT + KEPT / 4 };

/* More than any error of rounding. */
#define CLEARLY 1.000001

struct sampled_row {
    double score;
    uint64_t id, address, size, alloc_ns, life_ns;
    uint32_t stack, thread, free_thread, type, arena, count, free_stack;
    uint8_t kind, alignment; /* log2 + 1, 0: the allocator's own */
};

struct sample {
    struct sampled_row *rows; /* ROOM of them */
    size_t count;
    double bound; /* scores below it are in */
};

struct row_sample {
    struct sample samples[SAMPLES];
    uint64_t duration_ns, rows;
};

struct row_sample *row_sample_new(uint64_t duration_ns)
{
    struct row_sample *sample = calloc(1, sizeof(*sample));
    if (!sample)
        return NULL;
    sample->duration_ns = duration_ns;
    for (int i = 0; i < SAMPLES; i++) {
        sample->samples[i].bound = DBL_MAX;
        sample->samples[i].rows = malloc(ROOM * sizeof(struct sampled_row));
        if (!sample->samples[i].rows) {
            row_sample_free(sample);
            return NULL;
        }
    }
    return sample;
}

void row_sample_free(struct row_sample *sample)
{
    for (int i = 0; sample && i < SAMPLES; i++)
        free(sample->samples[i].rows);
    free(sample);
}

static double weight_of(const struct row_sample *sample, int which, uint64_t size,
                        uint64_t alloc_ns, uint64_t life_ns)
{
    const double bytes = size == 0 ? 1 : (double)size;
    if (which == 0)
        return 1;
    if (which == 1)
        return bytes;
    const uint64_t end_ns = sample->duration_ns > alloc_ns ? sample->duration_ns : alloc_ns;
    const uint64_t lifetime = life_ns == 0 ? end_ns - alloc_ns : life_ns - 1;
    return bytes * (double)(lifetime + 1);
}

/* Returns a number in (0, 1] that follows from the row's id and the sample. */
static double random_of(uint64_t id, int which)
{
    const uint64_t hash = hash_number(id * UINT64_C(0x9e3779b97f4a7c15) +
                                      (uint64_t)which * UINT64_C(0x632be59bd9b4e019));
    return (double)((hash >> 11) + 1) * 0x1p-53;
}

/* Moves the KEPT rows of smallest score to the front and forgets the others (Hoare's FIND). The
 * smallest forgotten score is the new bound. */
static void cut(struct sample *sample)
{
    struct sampled_row *rows = sample->rows;
    size_t low = 0, high = sample->count - 1;
    if (sample->count <= KEPT)
        return;
    while (low < high) {
        const double middle = rows[low + (high - low) / 2].score;
        size_t i = low, k = high;
        for (;; i++, k--) {
            while (rows[i].score < middle)
                i++;
            while (rows[k].score > middle)
                k--;
            if (i >= k)
                break;
            const struct sampled_row other = rows[i];
            rows[i] = rows[k];
            rows[k] = other;
        }
        if (k < KEPT)
            low = k + 1;
        else
            high = k;
    }
    sample->bound = rows[KEPT].score;
    sample->count = KEPT;
}

static struct sampled_row row_of(const struct row_batch *batch, size_t i)
{
    const uint64_t alignment = batch->column[COLUMN_ALIGNMENT][i];
    return (struct sampled_row){
        .id = batch->first_id + i,
        .address = batch->column[COLUMN_ADDRESS][i],
        .size = batch->column[COLUMN_SIZE][i],
        .alloc_ns = batch->column[COLUMN_ALLOC_NS][i],
        .life_ns = batch->column[COLUMN_LIFE_NS][i],
        .stack = (uint32_t)batch->column[COLUMN_STACK][i],
        .thread = (uint32_t)batch->column[COLUMN_THREAD][i],
        .free_thread = (uint32_t)batch->column[COLUMN_FREE_THREAD][i],
        .type = (uint32_t)batch->column[COLUMN_TYPE][i],
        .arena = (uint32_t)batch->column[COLUMN_ARENA][i],
        .count = (uint32_t)batch->column[COLUMN_COUNT_OF_OBJECTS][i],
        .free_stack = (uint32_t)batch->column[COLUMN_FREE_STACK][i],
        .kind = (uint8_t)batch->column[COLUMN_KIND][i],
        .alignment = alignment ? (uint8_t)(64 - __builtin_clzll(alignment)) : 0,
    };
}

void row_sample_add(struct row_sample *sample, const struct row_batch *batch)
{
    sample->rows += batch->rows;
    for (int which = 0; which < SAMPLES; which++) {
        struct sample *into = &sample->samples[which];
        for (size_t i = 0; i < batch->rows; i++) {
            const double random = random_of(batch->first_id + i, which);
            const double weight =
                weight_of(sample, which, batch->column[COLUMN_SIZE][i],
                          batch->column[COLUMN_ALLOC_NS][i], batch->column[COLUMN_LIFE_NS][i]);
            /* Most rows are far out: a product tells it, which takes less time than the quotient.
             */
            if (random > weight * into->bound * CLEARLY)
                continue;
            const double score = random / weight;
            if (score >= into->bound)
                continue;
            into->rows[into->count] = row_of(batch, i);
            into->rows[into->count++].score = score;
            if (into->count == ROOM)
                cut(into);
        }
    }
}

/* Returns how many rows this one stands for, times 2^16. */
static uint64_t stands_for(const struct row_sample *sample, const struct sampled_row *row)
{
    double left_out = 1;
    for (int which = 0; which < SAMPLES; which++) {
        const double likely = sample->samples[which].bound *
                              weight_of(sample, which, row->size, row->alloc_ns, row->life_ns);
        left_out *= likely >= 1 ? 0 : 1 - likely;
    }
    return (uint64_t)(65536 / (1 - left_out) + 0.5);
}

/* A row of one of the samples. */
struct chosen {
    uint64_t id;
    const struct sampled_row *row;
};

static void fill(const struct row_sample *sample, struct row_batch *batch,
                 const struct sampled_row *row)
{
    const size_t i = batch->rows++;
    for (unsigned column = 0; column < COLUMN_TOTAL; column++)
        batch->column[column][i] = 0;
    batch->column[COLUMN_ADDRESS][i] = row->address;
    batch->column[COLUMN_SIZE][i] = row->size;
    batch->column[COLUMN_ALLOC_NS][i] = row->alloc_ns;
    batch->column[COLUMN_LIFE_NS][i] = row->life_ns;
    batch->column[COLUMN_STACK][i] = row->stack;
    batch->column[COLUMN_THREAD][i] = row->thread;
    batch->column[COLUMN_FREE_THREAD][i] = row->free_thread;
    batch->column[COLUMN_KIND][i] = row->kind;
    batch->column[COLUMN_TYPE][i] = row->type;
    batch->column[COLUMN_ARENA][i] = row->arena;
    batch->column[COLUMN_COUNT_OF_OBJECTS][i] = row->count;
    batch->column[COLUMN_ALIGNMENT][i] = row->alignment ? UINT64_C(1) << (row->alignment - 1) : 0;
    batch->column[COLUMN_FREE_STACK][i] = row->free_stack;
    batch->column[COLUMN_WEIGHT][i] = stands_for(sample, row);
}

static int put_batch(sqlite3_stmt *insert, const struct row_batch *batch, uint8_t *packed)
{
    int result = SQLITE_OK;
    for (unsigned column = 0; result == SQLITE_OK && column < COLUMN_TOTAL; column++) {
        struct row_batch_chunk chunk;
        row_batch_pack(batch, column, packed, &chunk);
        sqlite3_bind_int64(insert, 1, (int64_t)chunk.id);
        sqlite3_bind_int64(insert, 2, (int64_t)batch->rows);
        sqlite3_bind_int64(insert, 3, chunk.width);
        sqlite3_bind_int64(insert, 4, (int64_t)chunk.min);
        sqlite3_bind_int64(insert, 5, (int64_t)chunk.max);
        result = sqlite3_bind_blob64(insert, 6, packed, chunk.length, SQLITE_STATIC);
        if (result == SQLITE_OK)
            sqlite3_step(insert);
        const int reset = sqlite3_reset(insert);
        result = result == SQLITE_OK ? reset : result;
    }
    return result;
}

int row_sample_put(struct row_sample *sample, sqlite3 *database, struct row_batch *batch)
{
    struct chosen *rows = malloc((size_t)SAMPLES * KEPT * sizeof(*rows));
    uint8_t *packed = malloc(column_data_most(COLUMN_CHUNK_ROWS));
    sqlite3_stmt *insert = NULL;
    size_t count = 0;
    int result = !rows || !packed
                     ? SQLITE_NOMEM
                     : sqlite3_prepare_v2(database, "INSERT INTO sample_chunk VALUES (?,?,?,?,?,?)",
                                          -1, &insert, NULL);
    for (int which = 0; result == SQLITE_OK && which < SAMPLES; which++) {
        cut(&sample->samples[which]);
        for (size_t i = 0; i < sample->samples[which].count; i++)
            rows[count++] =
                (struct chosen){sample->samples[which].rows[i].id, &sample->samples[which].rows[i]};
    }
    if (sample->rows < ROW_SAMPLE_FEWEST)
        count = 0;
    if (count > 0)
        qsort(rows, count, sizeof(*rows), compare_uint64);
    batch->first_id = 1;
    batch->rows = 0;
    for (size_t i = 0; result == SQLITE_OK && i < count; i++) {
        if (i == 0 || rows[i].id != rows[i - 1].id)
            fill(sample, batch, rows[i].row);
        if (batch->rows == COLUMN_CHUNK_ROWS || (i + 1 == count && batch->rows > 0)) {
            result = put_batch(insert, batch, packed);
            batch->first_id += batch->rows;
            batch->rows = 0;
        }
    }
    sqlite3_finalize(insert);
    free(packed);
    free(rows);
    return result;
}
