/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps count, sum, avg, min and max on groups. */
#include <math.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"

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
    if (!group_find_details(set, error))
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
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
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
