/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/row_sample.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"

/* KEPT rows stay in each sample; it is cut back to them when it has ROOM. */
enum { SAMPLES = 3, KEPT = 1 << 18, ROOM = KEPT + KEPT / 4 };

/* More than any error of rounding. */
#define CLEARLY 1.000001

struct sampled_row {
    uint64_t id, address, size, alloc_ns, life_ns;
    uint32_t stack, thread, free_thread, type, arena, count, free_stack;
    uint8_t kind, alignment; /* log2 + 1, 0: the allocator's own */
};

struct sample {
    struct sampled_row *rows; /* ROOM of them */
    double *scores;           /* of the rows */
    size_t count;
    double bound; /* scores below it are in */
};

struct row_sample {
    struct sample samples[SAMPLES];
    double *room; /* for all scores of a sample */
    uint64_t duration_ns, rows;
};

struct row_sample *row_sample_new(uint64_t duration_ns)
{
    struct row_sample *sample = calloc(1, sizeof(*sample));
    if (!sample)
        return NULL;
    sample->duration_ns = duration_ns;
    sample->room = malloc(ROOM * sizeof(*sample->room));
    bool good = sample->room != NULL;
    for (int i = 0; i < SAMPLES; i++) {
        struct sample *one = &sample->samples[i];
        one->bound = DBL_MAX;
        one->rows = malloc(ROOM * sizeof(*one->rows));
        one->scores = malloc(ROOM * sizeof(*one->scores));
        good = good && one->rows && one->scores;
    }
    if (good)
        return sample;
    row_sample_free(sample);
    return NULL;
}

void row_sample_free(struct row_sample *sample)
{
    for (int i = 0; sample && i < SAMPLES; i++)
        FREE_ALL(sample->samples[i].rows, sample->samples[i].scores);
    if (sample)
        free(sample->room);
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

/* Returns the score that `before` of the scores are below (Hoare's FIND), and changes their order.
 */
static double find_score(double *scores, size_t count, size_t before)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        const double middle = scores[low + (high - low) / 2];
        size_t i = low, k = high;
        for (;; i++, k--) {
            while (scores[i] < middle)
                i++;
            while (scores[k] > middle)
                k--;
            if (i >= k)
                break;
            const double other = scores[i];
            scores[i] = scores[k];
            scores[k] = other;
        }
        if (k < before)
            low = k + 1;
        else
            high = k;
    }
    return scores[before];
}

/* Returns the bits of a score, which is not negative: they are in the order of the scores. */
static uint64_t bits_of(double score)
{
    uint64_t bits;
    memcpy(&bits, &score, sizeof(bits));
    return bits;
}

/* Returns the score that KEPT of the scores are below. Only those that share its first bits are
 * compared: a comparison of random numbers is a wrong guess of the processor half of the time.
 * `room` has room for all scores. */
static double find_bound(const double *scores, size_t count, double *room)
{
    enum { PARTS = 4096 };
    uint32_t counts[PARTS] = {0};
    uint64_t least = UINT64_MAX, most = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = bits_of(scores[i]);
        least = bits < least ? bits : least;
        most = bits > most ? bits : most;
    }
    while ((most - least) >> shift >= PARTS)
        shift++;
    for (size_t i = 0; i < count; i++)
        counts[(bits_of(scores[i]) - least) >> shift]++;
    size_t part = 0, before = 0, found = 0;
    while (before + counts[part] <= KEPT)
        before += counts[part++];
    for (size_t i = 0; i < count; i++)
        if ((bits_of(scores[i]) - least) >> shift == part)
            room[found++] = scores[i];
    return find_score(room, found, KEPT - before);
}

/* Keeps the KEPT rows of smallest score. The smallest score of the others is the new bound. The
 * last rows take the places of those that go. */
static void cut(struct row_sample *sample, struct sample *one)
{
    if (one->count <= KEPT)
        return;
    one->bound = find_bound(one->scores, one->count, sample->room);
    for (size_t i = 0; i < one->count; i++) {
        if (one->scores[i] < one->bound)
            continue;
        while (one->count > i && one->scores[one->count - 1] >= one->bound)
            one->count--;
        if (one->count <= i)
            break;
        one->rows[i] = one->rows[--one->count];
        one->scores[i] = one->scores[one->count];
    }
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
            into->scores[into->count++] = score;
            if (into->count == ROOM)
                cut(sample, into);
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
    /* Ids, and places in the samples, one sample after another. */
    struct number_pair *rows = malloc((size_t)SAMPLES * KEPT * sizeof(*rows));
    uint8_t *packed = malloc(column_data_most(COLUMN_CHUNK_ROWS));
    sqlite3_stmt *insert = NULL;
    size_t count = 0;
    int result = !rows || !packed
                     ? SQLITE_NOMEM
                     : sqlite3_prepare_v2(database, "INSERT INTO sample_chunk VALUES (?,?,?,?,?,?)",
                                          -1, &insert, NULL);
    for (int which = 0; result == SQLITE_OK && which < SAMPLES; which++) {
        cut(sample, &sample->samples[which]);
        for (size_t i = 0; i < sample->samples[which].count; i++)
            rows[count++] =
                (struct number_pair){sample->samples[which].rows[i].id, (uint64_t)which * ROOM + i};
    }
    if (sample->rows < ROW_SAMPLE_FEWEST)
        count = 0;
    if (count > 0)
        sort_pairs(rows, count);
    batch->first_id = 1;
    batch->rows = 0;
    for (size_t i = 0; result == SQLITE_OK && i < count; i++) {
        if (i == 0 || rows[i].key != rows[i - 1].key)
            fill(sample, batch, &sample->samples[rows[i].value / ROOM].rows[rows[i].value % ROOM]);
        if (batch->rows == COLUMN_CHUNK_ROWS || (i + 1 == count && batch->rows > 0)) {
            result = put_batch(insert, batch, packed);
            batch->first_id += batch->rows;
            batch->rows = 0;
        }
    }
    sqlite3_finalize(insert);
    FREE_ALL(packed, rows);
    return result;
}
