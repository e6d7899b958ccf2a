/* SPDX-License-Identifier: BSD-2-Clause */
/* The spread over sizes, threads and lifetimes. Lifetimes are counted in nanoseconds or in
 * allocations. For the latter all times of allocations are sorted: the run is cut into equal
 * buckets, a counting sort puts each time, as its distance from the beginning of its bucket, into
 * the place of its bucket, and each bucket is sorted. Then the number of allocations up to a time
 * is that before its bucket and a search within it. */
#include <stdlib.h>

#include "schemas/array.h"
#include "session/spread.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/table.h"
#include "session/table/selection_state.h"
#include "session/table/sums.h"

enum session_size_class session_size_class(uint64_t size)
{
    enum session_size_class size_class = SESSION_SMALL;
    while (size > session_size_class_most(size_class))
        size_class++;
    return size_class;
}

uint64_t session_size_class_most(enum session_size_class size_class)
{
    static const uint64_t most[] = {32, 256, 2048, UINT64_MAX};
    return most[size_class];
}

bool selection_sizes(struct selection *selection, struct session_size_sums **rows, size_t *count,
                     struct session_error *error)
{
    const struct selection_table_query query = {
        .keys = "size",
        .measures = 1u << MEASURE_ALLOCATIONS | 1u << MEASURE_BYTES | 1u << MEASURE_LIVE_BYTES |
                    1u << MEASURE_LIVE_COUNT | 1u << MEASURE_AT_PEAK_BYTES |
                    1u << MEASURE_AT_PEAK_COUNT,
        .by_keys = true};
    struct selection_table *table = selection_table(selection, &query, error);
    *rows = table ? calloc(table->count + 1, sizeof(**rows)) : NULL;
    *count = 0;
    for (; *rows && *count < table->count; ++*count) {
        const uint64_t *value = selection_table_values(table, *count);
        (*rows)[*count] = (struct session_size_sums){
            table->key[*count].id, value[0], value[1], value[3], value[2], value[5], value[4]};
    }
    if (table && !*rows)
        session_fail_memory(error, "the sizes");
    selection_table_free(table);
    return *rows != NULL;
}

uint32_t session_thread_process(const struct session *session, uint32_t thread)
{
    const struct names *names = &session->names;
    return thread < names->thread.count ? names->thread_process[thread] : 0;
}

/* Numbers pairs of threads. The thread behind the last one stands for none. */
static void by_threads(const void *context, const struct sums_rows *rows, struct code *codes)
{
    const uint64_t threads = *(const uint32_t *)context;
    for (size_t i = 0; i < rows->count; i++) {
        const uint64_t free_thread =
            rows->value[COLUMN_LIFE_NS][i] == 0 ? threads : rows->value[COLUMN_FREE_THREAD][i];
        codes[i] = (struct code){rows->value[COLUMN_THREAD][i] * (threads + 1) + free_thread, 0};
    }
}

ARRAY_ORDER(compare_frees, struct session_cross_thread_free,
            ORDER(a->thread, b->thread) ?: ORDER(a->free_thread, b->free_thread))

bool selection_cross_thread_frees(struct selection *selection,
                                  struct session_cross_thread_free **rows, size_t *count,
                                  struct session_error *error)
{
    const uint32_t threads = selection->session->names.thread.count;
    const struct sums_query query = {.parts = SUMS_BIT(SUMS_TOTAL) | SUMS_BIT(SUMS_AT_PEAK),
                                     .number = by_threads,
                                     .context = &threads,
                                     .columns = COLUMN_BIT(COLUMN_THREAD) |
                                                COLUMN_BIT(COLUMN_FREE_THREAD) |
                                                COLUMN_BIT(COLUMN_LIFE_NS)};
    struct sums sums;
    if (!sums_find(selection->session, &selection->set, &query, &sums, error))
        return false;
    *count = sums.codes.count;
    *rows = calloc(*count + 1, sizeof(**rows));
    for (size_t i = 0; *rows && i < *count; i++) {
        const uint64_t *total = sums_of(&sums, i, SUMS_TOTAL);
        const uint64_t pair = sums.codes.codes[i].low, free_thread = pair % (threads + UINT64_C(1));
        (*rows)[i] = (struct session_cross_thread_free){
            (uint32_t)(pair / (threads + UINT64_C(1))),
            free_thread == threads ? SESSION_NO_THREAD : (uint32_t)free_thread, total[0], total[1],
            sums_of(&sums, i, SUMS_AT_PEAK)[1]};
    }
    sums_free(&sums);
    if (!*rows)
        return session_fail_memory(error, "the threads");
    qsort(*rows, *count, sizeof(**rows), compare_frees);
    return true;
}

enum { BUCKET_BITS = 22, SHORT_BUCKET = 24 };

/* ---- bins ------------------------------------------------------------------------------- */

/* Bin 0 is [0, 1); bin 1 + 3k + i is from 1, 2 or 5 times 10^k on. */
static uint64_t decimal_from(size_t bin)
{
    static const uint64_t steps[] = {1, 2, 5};
    uint64_t power = 1;
    if (bin == 0)
        return 0;
    for (size_t k = (bin - 1) / 3; k > 0; k--)
        power *= 10;
    return steps[(bin - 1) % 3] * power;
}

/* The largest bin whose beginning fits into 64 bits is 58 for decimal ones. */
enum { DECIMAL_BINS = 58, BINARY_BINS = 65 };

struct binning {
    uint64_t from[SESSION_LIFETIMES]; /* by bin, ascending; the first is 0 */
    size_t bins;
    const struct times *times; /* NULL: lifetimes are in ns */
};

static size_t bin_of(const struct binning *binning, uint64_t value)
{
    size_t low = 0, high = binning->bins;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (binning->from[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- sorted times ----------------------------------------------------------------------- */

struct times {
    unsigned shift; /* a bucket is 2^shift ns long */
    size_t buckets;
    uint32_t *before; /* times before each bucket; buckets + 1 */
    uint32_t *low;    /* the times, sorted, from the beginning of their bucket */
};

static void times_free(struct times *times)
{
    FREE_ALL(times->before, times->low);
}

static size_t bucket_of(const struct times *times, uint64_t ns)
{
    const uint64_t bucket = ns >> times->shift;
    return bucket < times->buckets ? (size_t)bucket : times->buckets - 1;
}

static void count_times(void *context, const struct chunk_rows *rows)
{
    struct times *times = context;
    struct kernel_rows batch;
    uint64_t ns[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &batch)
    {
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &batch, ns);
        for (size_t i = 0; i < batch.count; i++)
            times->before[bucket_of(times, ns[i]) + 1]++;
    }
}

/* Puts times into their buckets. before[b] is where the next one of bucket b goes. */
static void place_times(void *context, const struct chunk_rows *rows)
{
    struct times *times = context;
    struct kernel_rows batch;
    uint64_t ns[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &batch)
    {
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &batch, ns);
        for (size_t i = 0; i < batch.count; i++) {
            const size_t bucket = bucket_of(times, ns[i]);
            times->low[times->before[bucket]++] =
                (uint32_t)(ns[i] - ((uint64_t)bucket << times->shift));
        }
    }
}

static void sort_bucket(uint32_t *low, size_t count)
{
    if (count > SHORT_BUCKET) {
        qsort(low, count, sizeof(*low), array_order32);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const uint32_t value = low[i];
        size_t k = i;
        for (; k > 0 && low[k - 1] > value; k--)
            low[k] = low[k - 1];
        low[k] = value;
    }
}

static bool sort_times(struct session *session, struct times *times, struct session_error *error)
{
    /* Placing has moved the beginning of each bucket to its end. */
    for (size_t bucket = times->buckets; bucket > 0; bucket--)
        times->before[bucket] = times->before[bucket - 1];
    times->before[0] = 0;
    for (size_t bucket = 0; bucket < times->buckets; bucket++) {
        if (bucket % 65536 == 0 && !scan_go_on(session, error))
            return false;
        sort_bucket(times->low + times->before[bucket],
                    times->before[bucket + 1] - times->before[bucket]);
    }
    return true;
}

/* Sorts the times of all allocations of the process heap. */
static bool times_open(struct session *session, struct times *times, struct session_error *error)
{
    struct selection *all = selection_new(session, NULL, error);
    const uint64_t end = session->duration_ns;
    *times = (struct times){.shift = 0};
    if (!all)
        return false;
    while ((end >> times->shift) >> BUCKET_BITS != 0)
        times->shift++;
    times->buckets = (size_t)(end >> times->shift) + 1;
    const uint64_t count = selection_count(all);
    bool good = true;
    if (count > SESSION_BETWEEN_MOST || times->shift > 32)
        good = session_fail(error, 0,
                            "lifetimes in allocations need a session of at most %llu allocations "
                            "and 200 days",
                            (unsigned long long)SESSION_BETWEEN_MOST);
    times->before = good ? calloc(times->buckets + 1, sizeof(*times->before)) : NULL;
    times->low = good ? malloc(((size_t)count + 1) * sizeof(*times->low)) : NULL;
    if (good && (!times->before || !times->low))
        good = session_fail_memory(error, "the times of the allocations");
    good = good && scan_in_order(session, &all->set, COLUMN_BIT(COLUMN_ALLOC_NS), count_times,
                                 times, error);
    for (size_t bucket = 0; good && bucket < times->buckets; bucket++)
        times->before[bucket + 1] += times->before[bucket];
    good =
        good &&
        scan_in_order(session, &all->set, COLUMN_BIT(COLUMN_ALLOC_NS), place_times, times, error) &&
        sort_times(session, times, error);
    selection_free(all);
    if (!good)
        times_free(times);
    return good;
}

/* Returns the number of allocations at or before `ns`. */
static uint64_t times_up_to(const struct times *times, uint64_t ns)
{
    const size_t bucket = bucket_of(times, ns);
    const uint64_t distance = ns - ((uint64_t)bucket << times->shift);
    size_t from = times->before[bucket];
    ARRAY_BISECT(from, times->before[bucket + 1], times->low[middle] <= distance);
    return from;
}

/* ---- the pass --------------------------------------------------------------------------- */

/* Numbers freed blocks by their bin; the others have the number behind the last one. */
static void by_lifetime(const void *context, const struct sums_rows *rows, struct code *codes)
{
    const struct binning *binning = context;
    for (size_t i = 0; i < rows->count; i++) {
        const uint64_t began = rows->value[COLUMN_ALLOC_NS][i];
        const uint64_t life = rows->value[COLUMN_LIFE_NS][i];
        uint64_t value = life - 1;
        if (binning->times && life != 0)
            value =
                times_up_to(binning->times, began + life - 1) - times_up_to(binning->times, began);
        codes[i] = (struct code){life == 0 ? binning->bins : bin_of(binning, value), 0};
    }
}

static bool count_lifetimes(struct selection *selection, const struct binning *binning,
                            struct session_lifetimes *lifetimes, struct session_error *error)
{
    const struct sums_query query = {.parts = SUMS_BIT(SUMS_TOTAL),
                                     .number = by_lifetime,
                                     .context = binning,
                                     .cells = binning->bins + 1,
                                     .columns =
                                         COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS)};
    struct sums sums;
    *lifetimes = (struct session_lifetimes){.count = 0};
    if (!sums_find(selection->session, &selection->set, &query, &sums, error))
        return false;
    lifetimes->live = sums_of(&sums, binning->bins, SUMS_TOTAL)[0];
    lifetimes->live_bytes = sums_of(&sums, binning->bins, SUMS_TOTAL)[1];
    for (size_t bin = 0, empty = 0; bin < binning->bins; bin++) {
        const uint64_t *total = sums_of(&sums, bin, SUMS_TOTAL);
        lifetimes->freed += total[0];
        lifetimes->freed_bytes += total[1];
        if (lifetimes->freed == 0)
            continue;
        lifetimes->bins[lifetimes->count + empty++] = (struct session_lifetime){
            binning->from[bin], bin + 1 < binning->bins ? binning->from[bin + 1] : UINT64_MAX,
            total[0], total[1]};
        if (total[0] > 0) {
            lifetimes->count += empty;
            empty = 0;
        }
    }
    sums_free(&sums);
    return true;
}

bool selection_lifetimes(struct selection *selection, struct session_lifetimes *lifetimes,
                         struct session_error *error)
{
    struct binning binning = {.bins = DECIMAL_BINS};
    for (size_t bin = 0; bin < binning.bins; bin++)
        binning.from[bin] = decimal_from(bin);
    return count_lifetimes(selection, &binning, lifetimes, error);
}

bool selection_lifetimes_in_allocations(struct selection *selection,
                                        struct session_lifetimes *lifetimes,
                                        struct session_error *error)
{
    struct times times;
    struct binning binning = {.bins = BINARY_BINS, .times = &times};
    for (size_t bin = 0; bin < binning.bins; bin++)
        binning.from[bin] = bin == 0 ? 0 : UINT64_C(1) << (bin - 1);
    if (!times_open(selection->session, &times, error))
        return false;
    const bool good = count_lifetimes(selection, &binning, lifetimes, error);
    times_free(&times);
    return good;
}
