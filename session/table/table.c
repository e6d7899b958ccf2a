/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes tables of the groups of a join. */
#include "session/table.h"
#include "schemas/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/store/error.h"
#include "session/table/group_state.h"
#include "session/table/selection_state.h"

/* ---- groups ----------------------------------------------------------------------------- */

/* Makes the groups of the rows that the steps leave. */
static struct session_group_set *make_groups(struct selection *selection,
                                             const struct selection_table_query *query,
                                             struct session_error *error)
{
    /* The standard errors of a sample are found in the same pass. */
    const bool errors = selection->session->estimate && query->measures != 0;
    const struct sums_query also = {.parts =
                                        group_parts(query->measures) |
                                        (errors ? GROUP_DETAILS | SUMS_BIT(SUMS_VARIANCE) : 0u),
                                    .everything = selection->everything && !query->steps};
    struct graph_result *result = NULL;
    if (query->steps && !(result = selection_graph(selection, query->steps, error)))
        return NULL;
    struct selection *rows = result ? graph_result_selection(result) : selection;
    struct session_group_set *groups = NULL;
    if (!rows)
        session_fail(error, 0, "these steps give no allocations: %s", query->steps);
    else
        groups = selection_join(rows, query->keys, &also, error);
    graph_result_free(result);
    if (groups && session_groups_prepare(groups, query->measures, error) &&
        (query->by_keys
             ? session_groups_sort_by_key(groups, 0, false, error)
             : session_groups_sort(groups, (enum session_group_measure)query->order, true, error)))
        return groups;
    session_groups_free(groups);
    return NULL;
}

/* ---- rows ------------------------------------------------------------------------------- */

static bool name_columns(struct selection_table *table, const struct selection_table_query *query)
{
    const bool sampled = table->groups->session->estimate != NULL;
    table->columns = calloc((size_t)MEASURE_ALL + query->moment_count, sizeof(*table->columns));
    if (!table->columns)
        return false;
    for (unsigned measure = 0; measure < MEASURE_ALL; measure++)
        if ((query->measures >> measure & 1) != 0)
            table->columns[table->column_count++] = (struct selection_table_column){
                session_group_measure_name(measure), session_group_measure_unit(measure),
                group_measure_estimated(table->groups, measure)};
    for (size_t i = 0; i < query->moment_count; i++)
        table->columns[table->column_count++] =
            (struct selection_table_column){NULL, UNIT_BYTES, sampled};
    return true;
}

static bool take_errors(struct selection_table *table, const struct selection_table_query *query,
                        struct session_error *error)
{
    double *to = table->errors;
    for (size_t row = 0; row < table->count; row++) {
        for (unsigned measure = 0; measure < MEASURE_ALL; measure++)
            if ((query->measures >> measure & 1) != 0 &&
                !session_group_error(table->groups, row, measure, to++, error))
                return false;
        for (size_t i = 0; i < query->moment_count; i++)
            *to++ = -1;
    }
    return true;
}

/* Adds the bytes live at the moments, which begin at column `first`. */
static bool take_moments(struct selection_table *table, const struct selection_table_query *query,
                         size_t first, struct session_error *error)
{
    const struct sums_query moments = {.parts = SUMS_BIT(SUMS_MOMENTS),
                                       .set = table->groups,
                                       .moments = query->moments,
                                       .moment_count = query->moment_count};
    struct sums sums;
    if (query->moment_count == 0)
        return true;
    if (!sums_find(table->groups->session, &table->groups->rows, &moments, &sums, error))
        return false;
    for (size_t row = 0; row < table->count; row++)
        memcpy(table->values + row * table->column_count + first,
               sums_of(&sums, table->groups->order[row], SUMS_MOMENTS),
               query->moment_count * sizeof(*table->values));
    sums_free(&sums);
    return true;
}

static bool take_rows(struct selection_table *table, const struct selection_table_query *query,
                      struct session_error *error)
{
    const size_t cells = table->count * table->column_count;
    table->key = calloc(table->count * table->key_count + 1, sizeof(*table->key));
    table->values = calloc(cells + 1, sizeof(*table->values));
    const bool sampled = table->groups->session->estimate != NULL;
    table->errors = sampled ? calloc(cells + 1, sizeof(*table->errors)) : NULL;
    if (!table->key || !table->values || (sampled && !table->errors))
        return session_fail_memory(error, "a table");
    for (size_t row = 0; row < table->count; row++) {
        uint64_t *value = table->values + row * table->column_count;
        for (size_t key = 0; key < table->key_count; key++)
            table->key[row * table->key_count + key] = session_group_key(table->groups, row, key);
        for (unsigned measure = 0; measure < MEASURE_ALL; measure++)
            if ((query->measures >> measure & 1) != 0)
                *value++ = group_measure(table->groups, table->groups->order[row], measure);
    }
    return take_moments(table, query, table->column_count - query->moment_count, error) &&
           (!sampled || take_errors(table, query, error));
}

struct selection_table *selection_table(struct selection *selection,
                                        const struct selection_table_query *query,
                                        struct session_error *error)
{
    struct session_group_set *groups = make_groups(selection, query, error);
    struct selection_table *table = groups ? calloc(1, sizeof(*table)) : NULL;
    if (!table) {
        session_groups_free(groups);
        if (groups)
            session_fail_memory(error, "a table");
        return NULL;
    }
    table->groups = groups;
    table->key_count = session_groups_keys(groups, &table->keys);
    table->made = session_groups_count(groups);
    table->count = query->limit > 0 && query->limit < table->made ? query->limit : table->made;
    if ((name_columns(table, query) || session_fail_memory(error, "a table")) &&
        take_rows(table, query, error))
        return table;
    selection_table_free(table);
    return NULL;
}

void selection_table_free(struct selection_table *table)
{
    if (!table)
        return;
    session_groups_free(table->groups);
    FREE_ALL(table->columns, table->key, table->values, table->errors, table);
}

/* ---- steps ------------------------------------------------------------------------------ */

/* Writes a name as a string of the language. */
static void put_quoted(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++)
        fprintf(out, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
    fputc('"', out);
}

/* Writes the test of a file: without a folder it would select such names in all. */
static void put_file(FILE *out, const char *path)
{
    if (strchr(path, '/')) {
        fputs("file == ", out);
        put_quoted(out, path);
        return;
    }
    fputs("file ~ \"^", out);
    for (; *path; path++) /* a backslash in the expression is two in the string */
        fprintf(out,
                *path == '"'                    ? "\\%c"
                : *path == '\\'                 ? "\\\\\\%c"
                : *path == '^'                  ? "\\\\%c"
                : strchr("$.[]|()*+?{}", *path) ? "[%c]"
                                                : "%c",
                *path);
    fputs("$\"", out);
}

/* Writes the test of a process: by its pid, or by its threads if it shares that with another. */
static void put_process(FILE *out, const struct names *names, uint64_t process)
{
    size_t alike = 0;
    for (uint32_t id = 1; id < names->process.count; id++)
        alike += names->process_pid[id] == names->process_pid[process];
    if (alike < 2) {
        fprintf(out, "process == %" PRIu32, names->process_pid[process]);
        return;
    }
    fprintf(out, "(process == %" PRIu32, names->process_pid[process]);
    for (uint32_t thread = 0, put = 0; thread < names->thread.count; thread++)
        if (names->thread_process[thread] == process)
            fprintf(out, "%sthread == %" PRIu32, put++ == 0 ? " and (" : " or ", thread);
    fputs("))", out);
}

static void put_test(FILE *out, const struct selection_table *table, size_t key,
                     const struct session_group_key *value)
{
    const struct session_key_column *column = &table->keys[key];
    if (value->is_null) {
        fprintf(out, "%s is null", column->name);
    } else if (table->groups->keys.parts[key].field == FIELD_FILE) {
        put_file(out, value->text);
    } else if (table->groups->keys.parts[key].field == FIELD_PROCESS) {
        put_process(out, &table->groups->session->names, value->id);
    } else if (column->type == KEY_TEXT) {
        fprintf(out, "%s == ", column->name);
        put_quoted(out, value->text);
    } else if (column->type == KEY_TRUTH) {
        fprintf(out, "%s == %s", column->name, value->id != 0 ? "true" : "false");
    } else {
        fprintf(out, "%s == %" PRIu64, column->name, value->id);
    }
}

char *selection_table_step(const struct selection_table *table, size_t row)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t key = 0; key < table->key_count; key++) {
        fputs(key == 0 ? "where " : " and ", out);
        put_test(out, table, key, &table->key[row * table->key_count + key]);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
