/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lifetimes in nanoseconds and in allocations. For the latter all times of allocations are sorted:
 * the run is cut into equal buckets, a counting sort puts each time, as its distance from the
 * beginning of its bucket, into the place of its bucket, and each bucket is sorted. Then the number
 * of allocations up to a time is that before its bucket and a search within it.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/spread.h"
#include "session/tables/sums.h"

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

/* Bin 0 is [0, 1); bin k is from 2^(k - 1) on. */
static uint64_t binary_from(size_t bin)
{
    return bin == 0 ? 0 : UINT64_C(1) << (bin - 1);
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
    free(times->before);
    free(times->low);
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

static int compare_low(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void sort_bucket(uint32_t *low, size_t count)
{
    if (count > SHORT_BUCKET) {
        qsort(low, count, sizeof(*low), compare_low);
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
    uint32_t from = times->before[bucket], to = times->before[bucket + 1];
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (times->low[middle] <= distance)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* ---- the pass --------------------------------------------------------------------------- */

static const uint64_t never_freed = UINT64_MAX - 1;

static void by_lifetime(const void *context, const struct table_rows *rows, struct code *codes)
{
    const struct binning *binning = context;
    for (size_t i = 0; i < rows->count; i++) {
        const uint64_t began = rows->value[COLUMN_ALLOC_NS][i];
        const uint64_t life = rows->value[COLUMN_LIFE_NS][i];
        if (life == 0) {
            codes[i] = (struct code){never_freed, 0};
            continue;
        }
        const uint64_t value = binning->times ? times_up_to(binning->times, began + life - 1) -
                                                    times_up_to(binning->times, began)
                                              : life - 1;
        codes[i] = (struct code){bin_of(binning, value), 0};
    }
}

static void take_bin(const struct binning *binning, size_t bin, const struct table_sums *sums,
                     struct session_lifetime *lifetime)
{
    const uint32_t number = code_map_find(&sums->codes, (struct code){bin, 0});
    *lifetime = (struct session_lifetime){
        binning->from[bin], bin + 1 < binning->bins ? binning->from[bin + 1] : UINT64_MAX, 0, 0};
    if (number != CODE_NONE) {
        lifetime->allocations = sums->sums[number].allocations;
        lifetime->bytes = sums->sums[number].bytes;
    }
}

static bool count_lifetimes(struct selection *selection, const struct binning *binning,
                            struct session_lifetimes *lifetimes, struct session_error *error)
{
    const struct table_spec spec = {.key = by_lifetime, .context = binning};
    struct table_sums sums;
    *lifetimes = (struct session_lifetimes){.count = 0};
    if (!table_sums(selection, &spec, &sums, error))
        return false;
    size_t first = SIZE_MAX, last = 0;
    for (size_t i = 0; i < sums.codes.count; i++) {
        const uint64_t bin = sums.codes.codes[i].low;
        if (bin == never_freed) {
            lifetimes->live = sums.sums[i].allocations;
            lifetimes->live_bytes = sums.sums[i].bytes;
            continue;
        }
        first = bin < first ? (size_t)bin : first;
        last = bin > last ? (size_t)bin : last;
        lifetimes->freed += sums.sums[i].allocations;
        lifetimes->freed_bytes += sums.sums[i].bytes;
    }
    for (size_t bin = first; first != SIZE_MAX && bin <= last; bin++)
        take_bin(binning, bin, &sums, &lifetimes->bins[lifetimes->count++]);
    table_sums_free(&sums);
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
        binning.from[bin] = binary_from(bin);
    if (!times_open(selection->session, &times, error))
        return false;
    const bool good = count_lifetimes(selection, &binning, lifetimes, error);
    times_free(&times);
    return good;
}
