/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters made of a column of numbers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/view/sql/sql.h"

/* Returns true if numbers of a table's own rows are those of allocations. */
static bool is_of_allocations(const char *origin)
{
    return !*origin || strcmp(origin, "allocation") == 0 || strcmp(origin, "v_allocation") == 0 ||
           strcmp(origin, "graph") == 0;
}

const char *sql_field_of(const struct session_table *table, size_t column)
{
    const char *title = session_table_title(table, column);
    const char *origin = session_table_origin(table, column);
    static const char *const fields[][2] = {{"id", "id"},           {"allocation_id", "id"},
                                            {"realloc_of", "id"},   {"stack_id", "stack"},
                                            {"address", "address"}, {"free_stack_id", "free_stack"},
                                            {"size", "size"}};
    const char *field = NULL;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcasecmp(title, fields[i][0]) == 0)
            field = fields[i][1];
    const bool own = field && (strcasecmp(title, "id") == 0 || strcasecmp(title, "address") == 0);
    if (!own || is_of_allocations(origin))
        return field;
    return strcasecmp(title, "id") == 0 && strcmp(origin, "stack") == 0 ? "stack" : NULL;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Writes the numbers of a column as a step: runs as ranges. Returns it, malloc()ed; NULL if there
 * is no number, or no memory. */
static char *make_step(const struct session_table *table, size_t column, const char *field)
{
    const size_t rows = session_table_rows(table);
    uint64_t *numbers = calloc(rows + 1, sizeof(*numbers));
    char *text = NULL;
    size_t count = 0, size = 0;
    for (size_t row = 0; numbers && row < rows; row++) {
        const struct session_value value = session_table_value(table, row, column);
        if (value.kind == VALUE_INTEGER && value.integer >= 0)
            numbers[count++] = (uint64_t)value.integer;
    }
    FILE *out = count > 0 ? open_memstream(&text, &size) : NULL;
    if (!out) {
        free(numbers);
        return NULL;
    }
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    fprintf(out, "where %s in (", field);
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && numbers[last + 1] - numbers[last] <= 1)
            last++;
        fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "", numbers[i]);
        if (numbers[last] > numbers[i])
            fprintf(out, "..%" PRIu64, numbers[last]);
        i = last + 1;
    }
    fputc(')', out);
    free(numbers);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

size_t sql_offers(void *view, struct exploration *exploration, struct view_offer *out,
                  size_t capacity)
{
    const struct sql *sql = view;
    size_t count = 0;
    (void)exploration;
    for (size_t i = 0; i < sql->column_count && count < capacity; i++) {
        const char *field = sql_field_of(sql->result->table, i);
        struct view_offer *offer = &out[count];
        if (!field || !(offer->long_step = make_step(sql->result->table, i, field)))
            continue;
        snprintf(offer->label, sizeof(offer->label), "all of column %.80s", sql->columns[i].title);
        count++;
    }
    return count;
}
