/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures selections: count, sum, avg, min, max, peak and growth. If the session is sampled, sums
 * are estimates. A recorded block represents a number of blocks, its weight w, because it was
 * recorded with probability 1 / w. So the estimate's variance is the sum of w (w - 1) x^2 (Horvitz
 * and Thompson, A generalization of sampling without replacement, JASA 47, 1952). */
#include <math.h>
#include <stdlib.h>

#include "session/filter/pins.h"
#include "session/filter/tree.h"
#include "session/groups.h"
#include "session/store/error.h"
#include "session/store/estimate.h"
#include "session/store/kernels.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/peaks.h"
#include "session/table/selection_state.h"

/* ---- peaks ---- */

bool selection_search_peak(struct selection *selection, const struct time_buckets *time,
                           const struct peak_sum *sums, struct session_error *error)
{
    struct peak peak;
    selection->peak_known =
        peak_of_rows(selection->session, &selection->set, time, sums, &peak, error);
    selection->peak_bytes = peak.bytes;
    selection->peak_ns = peak.ns;
    return selection->peak_known;
}

bool selection_find_peak(struct selection *selection, struct session_error *error)
{
    struct session *session = selection->session;
    if (selection->peak_known)
        return true;
    if (!selection->everything || !summary_answers(session))
        return selection_search_peak(selection, NULL, NULL, error);
    selection->peak_bytes = session->peak_bytes;
    selection->peak_ns = session->peak_ns;
    return selection->peak_known = true;
}

/* Finds the peak at the first call of a getter. The cast is safe: no selection is const. */
static struct selection *with_peak(const struct selection *selection)
{
    struct selection *found = (struct selection *)(uintptr_t)selection;
    return selection_find_peak(found, NULL) ? found : NULL;
}

uint64_t selection_peak_bytes(const struct selection *selection)
{
    const struct selection *found = with_peak(selection);
    return !found ? 0 : found->peak_bytes;
}

uint64_t selection_peak_ns(const struct selection *selection)
{
    const struct selection *found = with_peak(selection);
    return !found ? 0 : found->peak_ns;
}

/* ---- sums ---- */

struct summing {
    const struct session *session;
    enum filter_field field;
    const struct pins *pins; /* of filter_field_found() */
    unsigned __int128 sum;
    uint64_t weights; /* of the rows that are not null */
    uint64_t rows, min, max;
    double variance;
};

/* Returns the columns that value_of() reads, and the size, which tells what a row represents. */
static unsigned columns_of(enum filter_field field)
{
    const unsigned size = COLUMN_BIT(COLUMN_SIZE);
    switch (field) {
    case FIELD_COUNT:
        return size | COLUMN_BIT(COLUMN_COUNT_OF_OBJECTS);
    case FIELD_ADDRESS:
        return size | COLUMN_BIT(COLUMN_ADDRESS);
    case FIELD_ALLOC_TIME:
        return size | COLUMN_BIT(COLUMN_ALLOC_NS);
    case FIELD_FREE_TIME:
    case FIELD_LIFETIME:
        return size | COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS);
    case FIELD_LINE:
        return size | COLUMN_BIT(COLUMN_STACK);
    default:
        return size;
    }
}

static uint64_t at(const struct chunk_rows *rows, enum column column, size_t row)
{
    return column_view_at(&rows->views[column], row);
}

/* The value of a row. Returns false if it is null. */
static bool value_of(const struct summing *summing, const struct chunk_rows *rows, size_t row,
                     uint64_t *value)
{
    const struct session *session = summing->session;
    const bool lives = summing->field == FIELD_FREE_TIME || summing->field == FIELD_LIFETIME;
    const uint64_t began = lives ? at(rows, COLUMN_ALLOC_NS, row) : 0;
    const uint64_t life = lives ? at(rows, COLUMN_LIFE_NS, row) : 0;
    switch (summing->field) {
    case FIELD_SIZE:
        *value = at(rows, COLUMN_SIZE, row);
        return true;
    case FIELD_COUNT:
        *value = at(rows, COLUMN_COUNT_OF_OBJECTS, row);
        return true;
    case FIELD_ADDRESS:
        *value = at(rows, COLUMN_ADDRESS, row);
        return true;
    case FIELD_ALLOC_TIME:
        *value = at(rows, COLUMN_ALLOC_NS, row);
        return true;
    case FIELD_FREE_TIME:
        *value = began + life - 1;
        return life != 0;
    case FIELD_LIFETIME:
        *value = life != 0                      ? life - 1
                 : session->duration_ns > began ? session->duration_ns - began
                                                : 0;
        return true;
    case FIELD_LINE:
        *value = stacks_call_site(&session->stacks, at(rows, COLUMN_STACK, row))->line;
        return *value != 0;
    case FIELD_PINS:
    case FIELD_RESIDENT:
    case FIELD_RETAINED:
    case FIELD_REFERENCES:
    case FIELD_DOMINATOR:
        return pins_of(summing->pins, rows->first_row + row, value);
    case FIELD_ID:
        *value = rows->first_row + row + 1;
        return true;
    default: /* no field: the sum counts blocks */
        *value = 1;
        return true;
    }
}

static void sum_rows(void *context, const struct chunk_rows *rows)
{
    struct summing *summing = context;
    const struct estimate *estimate = summing->session->estimate;
    ROW_SET_EACH(rows->words, row)
    {
        uint64_t value;
        if (!value_of(summing, rows, row, &value))
            continue;
        /* The estimate of bytes is not that of blocks times the size: both are rounded. */
        const uint64_t weight = column_view_at(&rows->counts, row);
        summing->sum += summing->field == FIELD_SIZE ? column_view_at(&rows->bytes, row)
                                                     : (unsigned __int128)value * weight;
        summing->weights += weight;
        summing->rows++;
        summing->min = summing->rows == 1 || value < summing->min ? value : summing->min;
        summing->max = value > summing->max ? value : summing->max;
        if (estimate) {
            const double w =
                estimate_weight(estimate, column_view_at(&rows->views[COLUMN_SIZE], row));
            summing->variance += w * (w - 1) * (double)value * (double)value;
        }
    }
}

static void merge_sums(struct summing *all, const struct summing *part)
{
    if (part->rows == 0)
        return;
    all->sum += part->sum;
    all->weights += part->weights;
    all->min = all->rows == 0 || part->min < all->min ? part->min : all->min;
    all->max = part->max > all->max ? part->max : all->max;
    all->rows += part->rows;
    all->variance += part->variance;
}

static bool sum_field(struct selection *selection, enum filter_field field, const struct pins *pins,
                      struct summing *all, struct session_error *error)
{
    struct scan_contexts contexts;
    *all = (struct summing){.session = selection->session, .field = field, .pins = pins};
    if (!scan_contexts_open(selection->session, &contexts, sizeof(*all), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        *(struct summing *)contexts.each[i] = *all;
    const bool good = scan_each_chunk(selection->session, &selection->set, columns_of(field),
                                      sum_rows, contexts.each, contexts.threads, error);
    for (size_t i = 0; i < contexts.threads; i++)
        merge_sums(all, contexts.each[i]);
    scan_contexts_close(&contexts);
    return good;
}

static enum session_unit unit_of(enum filter_field field)
{
    switch (filter_fields[field].type) {
    case TYPE_SIZE:
        return UNIT_BYTES;
    case TYPE_DURATION:
        return UNIT_DURATION;
    case TYPE_MOMENT:
        return UNIT_MOMENT;
    default:
        return UNIT_NUMBER;
    }
}

/* Returns true if the sum of so many sizes cannot exceed 2^64, whatever rows they are of. */
static bool sizes_fit(const struct session *session, uint64_t count)
{
    uint64_t most = 0;
    for (uint32_t chunk = 0; chunk < column_store_chunks(session->columns); chunk++) {
        const uint64_t here = column_store_max(session->columns, chunk, COLUMN_SIZE);
        most = here > most ? here : most;
    }
    return count == 0 || most <= UINT64_MAX / count;
}

/* Measures sizes by the bytes of the selection, which are known. */
static void measure_bytes(const struct selection *selection, const struct filter_step *step,
                          struct session_measure *measure)
{
    const uint64_t count = selection_count(selection);
    measure->unit = UNIT_BYTES;
    measure->is_null = count == 0 && step->kind == STEP_AVG;
    measure->value = step->kind == STEP_SUM ? selection->bytes
                     : count == 0           ? 0
                                            : selection->bytes / count;
}

static bool measure_field(struct selection *selection, const struct filter_step *step,
                          struct session_measure *measure, struct session_error *error)
{
    struct summing all;
    struct filter_live live;
    struct pins *pins = NULL;
    if (step->field == FIELD_SIZE && (step->kind == STEP_SUM || step->kind == STEP_AVG) &&
        !session_sampled(selection->session) &&
        sizes_fit(selection->session, selection_count(selection))) {
        measure_bytes(selection, step, measure);
        return true;
    }
    if (filter_field_found(step->field) &&
        (!filter_live_time(selection->session, step->moment, &live, error) ||
         !(pins = pins_find(selection->session, step->field, step->field_column, &live, error))))
        return false;
    const bool good = sum_field(selection, step->field, pins, &all, error);
    pins_free(pins);
    if (!good)
        return false;
    const bool adds = step->kind == STEP_SUM || step->kind == STEP_AVG;
    measure->unit = unit_of(step->field);
    measure->is_null = all.rows == 0 && step->kind != STEP_SUM;
    measure->estimated = adds && session_sampled(selection->session);
    if (step->kind == STEP_MIN || step->kind == STEP_MAX) {
        measure->value = step->kind == STEP_MIN ? all.min : all.max;
        return true;
    }
    unsigned __int128 value = all.sum;
    if (step->kind == STEP_AVG)
        value = all.weights == 0 ? 0 : all.sum / all.weights;
    if (value > UINT64_MAX)
        return session_fail(error, step->column, "the sum exceeds 2^64");
    measure->value = (uint64_t)value;
    if (measure->estimated)
        measure->standard_error = step->kind == STEP_SUM ? sqrt(all.variance) : -1;
    return true;
}

/* ---- growth ---- */

/* The parts of growth: their bits say at which times the blocks were live. */
enum { LIVE_FROM = 1, LIVE_TO = 2, PARTS = 4 };

struct growing {
    const struct session *session;
    struct filter_live from, to;
    uint64_t bytes[PARTS], counts[PARTS];
    double variance; /* of the difference */
};

static bool is_live(const struct filter_live *at, uint64_t began, uint64_t life)
{
    if (at->time.before)
        return false;
    return at->end ? life == 0 : kernel_is_live(began, life, at->time.ns);
}

static void grow_rows(void *context, const struct chunk_rows *rows)
{
    struct growing *growing = context;
    const struct estimate *estimate = growing->session->estimate;
    ROW_SET_EACH(rows->words, row)
    {
        const uint64_t began = column_view_at(&rows->views[COLUMN_ALLOC_NS], row);
        const uint64_t life = column_view_at(&rows->views[COLUMN_LIFE_NS], row);
        const unsigned part = (is_live(&growing->from, began, life) ? LIVE_FROM : 0u) |
                              (is_live(&growing->to, began, life) ? LIVE_TO : 0u);
        growing->bytes[part] += column_view_at(&rows->bytes, row);
        growing->counts[part] += column_view_at(&rows->counts, row);
        if (estimate && (part == LIVE_FROM || part == LIVE_TO)) {
            const uint64_t size = column_view_at(&rows->views[COLUMN_SIZE], row);
            const double w = estimate_weight(estimate, size);
            growing->variance += w * (w - 1) * (double)size * (double)size;
        }
    }
}

static bool measure_growth(struct selection *selection, const struct filter_step *step,
                           struct session_measure *measure, struct session_error *error)
{
    struct session *session = selection->session;
    struct growing all = {.session = session};
    struct scan_contexts contexts;
    if (!filter_live_time(session, &step->from, &all.from, error) ||
        !filter_live_time(session, &step->to, &all.to, error) ||
        !scan_contexts_open(session, &contexts, sizeof(all), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        *(struct growing *)contexts.each[i] = all;
    const bool good = scan_each_chunk(session, &selection->set,
                                      COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                                          COLUMN_BIT(COLUMN_LIFE_NS),
                                      grow_rows, contexts.each, contexts.threads, error);
    for (size_t i = 0; i < contexts.threads; i++) {
        const struct growing *each = contexts.each[i];
        for (size_t part = 0; part < PARTS; part++) {
            all.bytes[part] += each->bytes[part];
            all.counts[part] += each->counts[part];
        }
        all.variance += each->variance;
    }
    scan_contexts_close(&contexts);
    static const struct {
        const char *bytes, *blocks;
        unsigned part;
    } parts[] = {{"born", "born blocks", LIVE_TO},
                 {"died", "died blocks", LIVE_FROM},
                 {"stayed", "stayed blocks", LIVE_FROM | LIVE_TO}};
    const uint64_t born = all.bytes[LIVE_TO], died = all.bytes[LIVE_FROM];
    measure->unit = UNIT_BYTES;
    measure->negative = died > born;
    measure->value = died > born ? died - born : born - died;
    measure->part_count = 6;
    for (size_t i = 0; i < 3; i++) {
        measure->part[i] =
            (struct session_measure_part){parts[i].bytes, UNIT_BYTES, all.bytes[parts[i].part]};
        measure->part[3 + i] =
            (struct session_measure_part){parts[i].blocks, UNIT_NUMBER, all.counts[parts[i].part]};
    }
    measure->estimated = session_sampled(session);
    measure->standard_error = measure->estimated ? sqrt(all.variance) : 0;
    return good;
}

/* ---- all ---- */

static bool measure_peak(struct selection *selection, struct session_measure *measure,
                         struct session_error *error)
{
    if (!selection_find_peak(selection, error))
        return false;
    measure->unit = UNIT_BYTES;
    measure->value = selection->peak_bytes;
    measure->part_count = 1;
    measure->part[0] = (struct session_measure_part){"time", UNIT_MOMENT, selection->peak_ns};
    measure->estimated = session_sampled(selection->session);
    measure->standard_error = measure->estimated ? -1 : 0;
    return true;
}

static bool measure_count(struct selection *selection, struct session_measure *measure,
                          struct session_error *error)
{
    struct summing all = {.variance = 0};
    measure->value = selection_allocations(selection);
    measure->estimated = session_sampled(selection->session);
    if (measure->estimated && !sum_field(selection, FIELD_TOTAL, NULL, &all, error))
        return false;
    measure->standard_error = sqrt(all.variance);
    return true;
}

bool selection_measure(struct selection *selection, const struct filter_step *step,
                       struct session_measure *measure, struct session_error *error)
{
    *measure = (struct session_measure){.name = measure->name, .unit = UNIT_NUMBER};
    switch (step->kind) {
    case STEP_COUNT:
        return measure_count(selection, measure, error);
    case STEP_PEAK:
        return measure_peak(selection, measure, error);
    case STEP_GROWTH:
        return measure_growth(selection, step, measure, error);
    default:
        return measure_field(selection, step, measure, error);
    }
}
