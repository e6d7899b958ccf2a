/* SPDX-License-Identifier: BSD-2-Clause */
/* The getters of session/groups.h: the shape, keys and measures of a set of groups. */
#include "session/groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/group/shape.h"

/* Classes of measures that are computed together. */
enum measure_class {
    CLASS_SUM,
    CLASS_DETAIL,
    CLASS_PEAK,
    CLASS_TIMES,
    CLASS_RISES,
    CLASS_STEPS,
    CLASS_PADDING
};

static const struct {
    const char *name;
    enum session_unit unit;
    enum measure_class class;
} measures[MEASURE_TOTAL] = {
    [MEASURE_ALLOCATIONS] = {"allocations", UNIT_NUMBER, CLASS_SUM},
    [MEASURE_BYTES] = {"bytes", UNIT_BYTES, CLASS_SUM},
    [MEASURE_OBJECTS] = {"objects", UNIT_NUMBER, CLASS_DETAIL},
    [MEASURE_LIVE_BYTES] = {"live_bytes", UNIT_BYTES, CLASS_DETAIL},
    [MEASURE_LIVE_COUNT] = {"live_count", UNIT_NUMBER, CLASS_DETAIL},
    [MEASURE_AT_PEAK_BYTES] = {"at_peak_bytes", UNIT_BYTES, CLASS_DETAIL},
    [MEASURE_PEAK_BYTES] = {"peak_bytes", UNIT_BYTES, CLASS_PEAK},
    [MEASURE_AVG_SIZE] = {"avg_size", UNIT_BYTES, CLASS_SUM},
    [MEASURE_AVG_LIFETIME] = {"avg_lifetime", UNIT_DURATION, CLASS_DETAIL},
    [MEASURE_MIN_SIZE] = {"min_size", UNIT_BYTES, CLASS_DETAIL},
    [MEASURE_MAX_SIZE] = {"max_size", UNIT_BYTES, CLASS_DETAIL},
    [MEASURE_MIN_LIFETIME] = {"min_lifetime", UNIT_DURATION, CLASS_DETAIL},
    [MEASURE_MAX_LIFETIME] = {"max_lifetime", UNIT_DURATION, CLASS_DETAIL},
    [MEASURE_FIRST_TIME] = {"first_time", UNIT_MOMENT, CLASS_TIMES},
    [MEASURE_LAST_TIME] = {"last_time", UNIT_MOMENT, CLASS_TIMES},
    [MEASURE_BORN_OVER] = {"born_over", UNIT_DURATION, CLASS_TIMES},
    [MEASURE_DIED_OVER] = {"died_over", UNIT_DURATION, CLASS_TIMES},
    [MEASURE_RISES] = {"rises", UNIT_NUMBER, CLASS_RISES},
    [MEASURE_CLIMB] = {"climb", UNIT_NUMBER, CLASS_STEPS},
    [MEASURE_REPLACED] = {"replaced", UNIT_NUMBER, CLASS_STEPS},
    [MEASURE_TURNOVER] = {"turnover", UNIT_NUMBER, CLASS_PEAK},
    [MEASURE_WASTED] = {"wasted", UNIT_BYTES, CLASS_PADDING},
    [MEASURE_SHARE] = {"share", UNIT_NUMBER, CLASS_SUM},
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

int session_group_color(const struct session_group_set *set, size_t row)
{
    if (row >= set->count || !set->color || set->color[set->order[row]] == 0)
        return -1;
    return set->colors.step[set->color[set->order[row]]].number;
}

/* ---- measures ---- */

static uint64_t measure_of_shape(const struct group_shape *shape,
                                 enum session_group_measure measure)
{
    switch (measure) {
    case MEASURE_FIRST_TIME:
        return shape->first_alloc;
    case MEASURE_LAST_TIME:
        return shape->last_alloc;
    case MEASURE_BORN_OVER:
        return shape->last_alloc - shape->first_alloc;
    case MEASURE_DIED_OVER:
        return shape->last_end - shape->first_end;
    case MEASURE_RISES:
        return group_shape_rises(shape);
    case MEASURE_REPLACED:
        return shape->sizes == 0
                   ? 0
                   : (uint64_t)((unsigned __int128)shape->replaced * 100 / shape->sizes);
    default:
        return shape->rows == 0 ? 0 : shape->climbs * 100 / shape->rows;
    }
}

static uint64_t measure_of_detail(const struct group_detail *detail, uint64_t allocations,
                                  enum session_group_measure measure)
{
    switch (measure) {
    case MEASURE_OBJECTS:
        return detail->objects;
    case MEASURE_LIVE_BYTES:
        return detail->live_bytes;
    case MEASURE_LIVE_COUNT:
        return detail->live_count;
    case MEASURE_AT_PEAK_BYTES:
        return detail->at_peak_bytes;
    case MEASURE_AVG_LIFETIME:
        return (uint64_t)(((unsigned __int128)detail->lifetime_high << 64 | detail->lifetime_low) /
                          allocations);
    case MEASURE_MIN_SIZE:
        return detail->min_size;
    case MEASURE_MAX_SIZE:
        return detail->max_size;
    case MEASURE_MIN_LIFETIME:
        return detail->min_lifetime;
    default:
        return detail->max_lifetime;
    }
}

static uint64_t measure_of_peak(const struct session_group_set *set, uint32_t group,
                                enum session_group_measure measure)
{
    const uint64_t peak = !set->peaks || set->peaks[group] == PEAK_UNKNOWN ? 0 : set->peaks[group];
    if (measure == MEASURE_PEAK_BYTES)
        return peak;
    return peak == 0 ? 0 : set->sums[group].bytes / peak;
}

uint64_t group_measure(const struct session_group_set *set, uint32_t group,
                       enum session_group_measure measure)
{
    const struct group_sum *sum = &set->sums[group];
    switch (measures[measure].class) {
    case CLASS_DETAIL:
        return !set->details ? 0
                             : measure_of_detail(&set->details[group], sum->allocations, measure);
    case CLASS_PEAK:
        return measure_of_peak(set, group, measure);
    case CLASS_TIMES:
    case CLASS_RISES:
    case CLASS_STEPS:
        return set->shapes ? measure_of_shape(&set->shapes[group], measure) : 0;
    case CLASS_PADDING:
        return set->padding ? set->padding[group] : 0;
    case CLASS_SUM:
        break;
    }
    switch (measure) {
    case MEASURE_ALLOCATIONS:
        return sum->allocations;
    case MEASURE_BYTES:
        return sum->bytes;
    case MEASURE_SHARE:
        return (uint64_t)((unsigned __int128)sum->allocations * 100 / set->allocations);
    default:
        return sum->bytes / sum->allocations;
    }
}

bool session_groups_prepare(struct session_group_set *set, unsigned wanted,
                            struct session_error *error)
{
    static bool (*const find[])(struct session_group_set *, struct session_error *) = {
        [CLASS_DETAIL] = group_find_details, [CLASS_PEAK] = group_find_peaks,
        [CLASS_TIMES] = group_find_times,    [CLASS_RISES] = group_find_rises,
        [CLASS_STEPS] = group_find_steps,    [CLASS_PADDING] = group_find_padding,
    };
    unsigned classes = 0;
    for (int measure = 0; measure < MEASURE_TOTAL; measure++)
        if ((wanted >> measure & 1) != 0)
            classes |= 1u << measures[measure].class;
    for (unsigned class = CLASS_DETAIL; class <= CLASS_PADDING; class ++)
        if ((classes >> class & 1) != 0 && !find[class](set, error))
            return false;
    return true;
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

double group_variance_of(const struct session_group_set *set, uint32_t group,
                         enum session_group_measure measure)
{
    const struct group_variance *variance = &set->variances[group];
    switch (measure) {
    case MEASURE_ALLOCATIONS:
        return variance->allocations;
    case MEASURE_BYTES:
        return variance->bytes;
    case MEASURE_OBJECTS:
        return variance->objects;
    case MEASURE_LIVE_COUNT:
        return variance->live_count;
    case MEASURE_LIVE_BYTES:
        return variance->live_bytes;
    case MEASURE_AT_PEAK_BYTES:
        return variance->at_peak_bytes;
    default:
        return -1;
    }
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
    if (!group_find_details(set, error))
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
