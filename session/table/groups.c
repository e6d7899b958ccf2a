/* SPDX-License-Identifier: BSD-2-Clause */
/* The getters of session/groups.h: shape, keys, measures, and one number of all groups. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/groups.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/table/group_state.h"

#define TIMES SUMS_BIT(SUMS_TIMES)
#define STEPS SUMS_BIT(SUMS_STEPS)

/* The measures. Those that the language does not know come last. */
static const struct {
    const char *name;
    enum session_unit unit;
    unsigned parts; /* of the sums that it needs */
    /* If it is a word of them: */
    enum sums_part part;
    unsigned word;
    bool least; /* the word is the complement */
} measures[MEASURE_ALL] = {
    [MEASURE_ALLOCATIONS] = {"allocations", UNIT_NUMBER, 0},
    [MEASURE_BYTES] = {"bytes", UNIT_BYTES, 0},
    [MEASURE_OBJECTS] = {"objects", UNIT_NUMBER, GROUP_DETAILS, SUMS_OBJECTS, 0},
    [MEASURE_LIVE_BYTES] = {"live_bytes", UNIT_BYTES, GROUP_DETAILS, SUMS_LIVE, 1},
    [MEASURE_LIVE_COUNT] = {"live_count", UNIT_NUMBER, GROUP_DETAILS, SUMS_LIVE, 0},
    [MEASURE_AT_PEAK_BYTES] = {"at_peak_bytes", UNIT_BYTES, GROUP_DETAILS, SUMS_AT_PEAK, 1},
    [MEASURE_PEAK_BYTES] = {"peak_bytes", UNIT_BYTES, 0},
    [MEASURE_AVG_SIZE] = {"avg_size", UNIT_BYTES, 0},
    [MEASURE_AVG_LIFETIME] = {"avg_lifetime", UNIT_DURATION, GROUP_DETAILS, SUMS_LIFETIMES, 0},
    [MEASURE_MIN_SIZE] = {"min_size", UNIT_BYTES, GROUP_DETAILS, SUMS_SIZES, 0, true},
    [MEASURE_MAX_SIZE] = {"max_size", UNIT_BYTES, GROUP_DETAILS, SUMS_SIZES, 1},
    [MEASURE_MIN_LIFETIME] = {"min_lifetime", UNIT_DURATION, GROUP_DETAILS, SUMS_LIFETIMES, 2,
                              true},
    [MEASURE_MAX_LIFETIME] = {"max_lifetime", UNIT_DURATION, GROUP_DETAILS, SUMS_LIFETIMES, 3},
    [MEASURE_FIRST_TIME] = {"first_time", UNIT_MOMENT, TIMES, SUMS_TIMES, 0, true},
    [MEASURE_LAST_TIME] = {"last_time", UNIT_MOMENT, TIMES, SUMS_TIMES, 1},
    [MEASURE_BORN_OVER] = {"born_over", UNIT_DURATION, TIMES, SUMS_TIMES, 1},
    [MEASURE_DIED_OVER] = {"died_over", UNIT_DURATION, TIMES, SUMS_TIMES, 3},
    [MEASURE_RISES] = {"rises", UNIT_NUMBER, SUMS_BIT(SUMS_MOMENTS), SUMS_MOMENTS, 0},
    [MEASURE_CLIMB] = {"climb", UNIT_NUMBER, STEPS, SUMS_STEPS, 1},
    [MEASURE_REPLACED] = {"replaced", UNIT_NUMBER, STEPS, SUMS_STEPS, 3},
    [MEASURE_TURNOVER] = {"turnover", UNIT_NUMBER, 0},
    [MEASURE_WASTED] = {"wasted", UNIT_BYTES, SUMS_BIT(SUMS_PADDING), SUMS_PADDING, 0},
    [MEASURE_SHARE] = {"share", UNIT_NUMBER, 0},
    [MEASURE_AT_PEAK_COUNT] = {"at_peak_count", UNIT_NUMBER, GROUP_DETAILS, SUMS_AT_PEAK, 0},
    [MEASURE_SHORT_COUNT] = {"short_count", UNIT_NUMBER, SUMS_BIT(SUMS_SHORT), SUMS_SHORT, 0},
    [MEASURE_AT_PEAK_RESIDENT] = {"at_peak_resident", UNIT_BYTES, SUMS_BIT(SUMS_RESIDENT),
                                  SUMS_RESIDENT, 0},
};

const char *session_group_measure_name(enum session_group_measure measure)
{
    return measures[measure].name;
}

enum session_unit session_group_measure_unit(enum session_group_measure measure)
{
    return measures[measure].unit;
}

const struct filter_colors *group_colors(const struct session_group_set *set)
{
    return &set->colors;
}

struct session *group_session(const struct session_group_set *set)
{
    return set->session;
}

size_t session_groups_count(const struct session_group_set *set)
{
    return set->count;
}

size_t session_groups_made(const struct session_group_set *set)
{
    return set->made;
}

size_t session_groups_keys(const struct session_group_set *set,
                           const struct session_key_column **columns)
{
    *columns = set->keys.columns;
    return set->keys.part_count;
}

struct session_group_key session_group_key(const struct session_group_set *set, size_t row,
                                           size_t key)
{
    if (row >= set->count || key >= set->keys.part_count)
        return (struct session_group_key){.is_null = true};
    return group_key(set, set->order[row], key);
}

const char *session_group_id_name(const struct session_key_column *column)
{
    static const char *const names[][2] = {
        {"stack", "stack_id"},     {"free_stack", "free_stack_id"},
        {"thread", "thread_id"},   {"free_thread", "free_thread_id"},
        {"process", "process_id"}, {"arena", "arena_id"},
    };
    for (size_t i = 0; column->type == KEY_ID && i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(column->name, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

size_t session_group_key_text(const struct session_group_set *set, size_t row, size_t key,
                              char *out, size_t size)
{
    const struct session_group_key value = session_group_key(set, row, key);
    if (value.is_null)
        return (size_t)snprintf(out, size, "-");
    switch (set->keys.parts[key].column.type) {
    case KEY_PATH:
        return group_path_text(set, set->order[row], out, size);
    case KEY_TRUTH:
        return (size_t)snprintf(out, size, "%s", value.id != 0 ? "true" : "false");
    case KEY_NUMBER:
    case KEY_BYTES:
    case KEY_COLOR:
        return (size_t)snprintf(out, size, "%" PRIu64, value.id);
    default:
        return (size_t)snprintf(out, size, "%s", value.text ? value.text : "?");
    }
}

char *session_group_key_whole(const struct session_group_set *set, size_t row, size_t key)
{
    const size_t length = session_group_key_text(set, row, key, (char[1]){0}, 1);
    char *text = malloc(length + 1);
    if (text)
        session_group_key_text(set, row, key, text, length + 1);
    return text;
}

int session_group_color(const struct session_group_set *set, size_t row)
{
    if (row >= set->count || !set->color || set->color[set->order[row]] == 0)
        return -1;
    return set->colors.step[set->color[set->order[row]]].number;
}

/* ---- measures ---- */

static uint64_t percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (uint64_t)((unsigned __int128)part * 100 / whole);
}

static uint64_t measure_of_words(const uint64_t *words, enum session_group_measure measure,
                                 uint64_t allocations)
{
    const uint64_t word = words[measures[measure].word];
    uint64_t rises = 0;
    switch (measure) {
    case MEASURE_AVG_LIFETIME:
        return (uint64_t)(((unsigned __int128)words[1] << 64 | words[0]) / allocations);
    case MEASURE_BORN_OVER:
    case MEASURE_DIED_OVER:
        return word - ~words[measures[measure].word - 1];
    case MEASURE_RISES:
        for (size_t i = 1; i < GROUP_POINTS; i++)
            rises += words[i] > words[i - 1];
        return rises;
    case MEASURE_CLIMB:
        return percent(word, words[0]);
    case MEASURE_REPLACED:
        return percent(word, words[2]);
    default:
        return measures[measure].least ? ~word : word;
    }
}

uint64_t group_measure(const struct session_group_set *set, uint32_t group,
                       enum session_group_measure measure)
{
    const struct group_sum *sum = &set->sums[group];
    const uint64_t peak = set->peaks ? set->peaks[group] : 0;
    const enum sums_part part = measures[measure].part;
    switch (measure) {
    case MEASURE_ALLOCATIONS:
        return sum->allocations;
    case MEASURE_BYTES:
        return sum->bytes;
    case MEASURE_SHARE:
        return percent(sum->allocations, set->allocations);
    case MEASURE_AVG_SIZE:
        return sum->bytes / sum->allocations;
    case MEASURE_PEAK_BYTES:
        return peak;
    case MEASURE_TURNOVER:
        return peak == 0 ? 0 : sum->bytes / peak;
    default:
        return !set->part[part].words
                   ? 0
                   : measure_of_words(group_words(set, group, part), measure, sum->allocations);
    }
}

unsigned group_parts(unsigned wanted)
{
    unsigned needed = 0;
    for (int measure = 0; measure < MEASURE_ALL; measure++)
        if ((wanted >> measure & 1) != 0 && measures[measure].parts != 0)
            needed |= SUMS_BIT(measures[measure].part);
    return needed & ~SUMS_BIT(SUMS_MOMENTS);
}

bool session_groups_prepare(struct session_group_set *set, unsigned wanted,
                            struct session_error *error)
{
    const unsigned of_peaks = 1u << MEASURE_PEAK_BYTES | 1u << MEASURE_TURNOVER;
    unsigned missing = 0;
    for (int measure = 0; measure < MEASURE_ALL; measure++)
        if ((wanted >> measure & 1) != 0 && !set->part[measures[measure].part].words)
            missing |= measures[measure].parts;
    return group_find(set, missing, error) &&
           ((wanted & of_peaks) == 0 || group_find_peaks(set, error));
}

bool session_group_value(struct session_group_set *set, size_t row,
                         enum session_group_measure measure, uint64_t *value,
                         struct session_error *error)
{
    if (row >= set->count)
        return session_fail(error, 0, "there is no group %zu", row);
    if (!session_groups_prepare(set, 1u << measure, error))
        return false;
    *value = group_measure(set, set->order[row], measure);
    return true;
}

/* Returns the variance of a group's estimate, -1 if it is not known. GROUP_DETAILS are known. */
static double group_variance_of(const struct session_group_set *set, uint32_t group,
                                enum session_group_measure measure)
{
    static const enum session_group_measure known[] = {MEASURE_ALLOCATIONS, MEASURE_BYTES,
                                                       MEASURE_OBJECTS,     MEASURE_LIVE_COUNT,
                                                       MEASURE_LIVE_BYTES,  MEASURE_AT_PEAK_BYTES};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        double variance;
        memcpy(&variance, group_words(set, group, SUMS_VARIANCE) + i, sizeof(variance));
        if (known[i] == measure)
            return variance;
    }
    return -1;
}

bool group_measure_estimated(const struct session_group_set *set,
                             enum session_group_measure measure)
{
    return set->session->estimate != NULL && measure != MEASURE_MIN_SIZE &&
           measure != MEASURE_MAX_SIZE && measure != MEASURE_MIN_LIFETIME &&
           measure != MEASURE_MAX_LIFETIME;
}

bool session_group_error(struct session_group_set *set, size_t row,
                         enum session_group_measure measure, double *standard_error,
                         struct session_error *error)
{
    *standard_error = 0;
    if (row >= set->count)
        return session_fail(error, 0, "there is no group %zu", row);
    if (!group_measure_estimated(set, measure))
        return true;
    if (!group_find(set, GROUP_DETAILS, error))
        return false;
    const double variance = group_variance_of(set, set->order[row], measure);
    *standard_error = variance < 0 ? -1 : sqrt(variance);
    return true;
}

bool session_groups_sum(struct session_group_set *set, enum session_group_measure measure,
                        uint64_t *sum, struct session_error *error)
{
    if (measure > MEASURE_AT_PEAK_BYTES)
        return session_fail(error, 0, "%s of groups has no sum", measures[measure].name);
    if (!session_groups_prepare(set, 1u << measure, error))
        return false;
    *sum = 0;
    for (size_t i = 0; i < set->count; i++)
        *sum += group_measure(set, set->order[i], measure);
    return true;
}

/* A column of the groups: a measure or a key that is a number. */
struct column_of_groups {
    bool is_measure;
    enum session_group_measure measure;
    size_t part;
};

static bool find_column(const struct session_group_set *set, const struct filter_step *step,
                        struct column_of_groups *column, struct session_error *error)
{
    *column = (struct column_of_groups){.is_measure = filter_field_of_groups(step->field)};
    if (column->is_measure) {
        column->measure = (enum session_group_measure)(step->field - FIELD_ALLOCATIONS);
        return true;
    }
    for (size_t i = 0; i < set->keys.part_count; i++) {
        const enum session_key_type type = set->keys.parts[i].column.type;
        column->part = i;
        if (set->keys.parts[i].field == step->field && (type == KEY_NUMBER || type == KEY_BYTES))
            return true;
    }
    return session_fail(error, step->field_column, "%s of groups is not a number",
                        filter_fields[step->field].name);
}

static enum session_unit unit_of(const struct session_group_set *set,
                                 const struct column_of_groups *column)
{
    if (column->is_measure)
        return session_group_measure_unit(column->measure);
    return set->keys.parts[column->part].column.type == KEY_BYTES ? UNIT_BYTES : UNIT_NUMBER;
}

/* Stores the standard error of a sum or an average. */
static bool find_error(struct session_group_set *set, const struct column_of_groups *column,
                       enum filter_step_kind kind, struct session_measure *measure,
                       struct session_error *error)
{
    double variance = 0;
    if (!column->is_measure || !group_measure_estimated(set, column->measure))
        return true;
    measure->estimated = true;
    measure->standard_error = -1;
    if (kind != STEP_SUM && kind != STEP_AVG)
        return true;
    if (!group_find(set, GROUP_DETAILS, error))
        return false;
    for (size_t i = 0; i < set->count; i++) {
        const double each = group_variance_of(set, set->order[i], column->measure);
        if (each < 0)
            return true;
        variance += each;
    }
    measure->standard_error = sqrt(variance);
    if (kind == STEP_AVG && set->count > 0)
        measure->standard_error /= (double)set->count;
    return true;
}

bool group_scalar(struct session_group_set *set, const struct filter_step *step,
                  struct session_measure *measure, struct session_error *error)
{
    const char *const name = measure->name;
    struct column_of_groups column;
    *measure = (struct session_measure){.name = name, .unit = UNIT_NUMBER, .value = set->count};
    if (step->kind == STEP_COUNT)
        return true;
    if (!find_column(set, step, &column, error) ||
        (column.is_measure && !session_groups_prepare(set, 1u << column.measure, error)))
        return false;
    unsigned __int128 sum = 0;
    uint64_t least = UINT64_MAX, most = 0;
    size_t values = 0;
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t group = set->order[i];
        uint64_t value;
        if (column.is_measure) {
            value = group_measure(set, group, column.measure);
        } else {
            const struct session_group_key key = group_key(set, group, column.part);
            if (key.is_null)
                continue;
            value = key.id;
        }
        values++;
        sum += value;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    measure->unit = unit_of(set, &column);
    measure->is_null = values == 0 && step->kind != STEP_SUM;
    measure->value = 0;
    if (!measure->is_null) {
        const unsigned __int128 whole = step->kind == STEP_SUM   ? sum
                                        : step->kind == STEP_AVG ? sum / values
                                        : step->kind == STEP_MIN ? least
                                                                 : most;
        if (whole > UINT64_MAX)
            return session_fail(error, step->column, "the sum exceeds 2^64");
        measure->value = (uint64_t)whole;
    }
    return find_error(set, &column, step->kind, measure, error);
}
