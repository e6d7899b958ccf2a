/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a session for others: those that SQLite lists, and two that mprof derives. */
#include "session/stored_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/residency.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/user.h"
#include "stored_tables_sql.h"

enum { COLUMNS_MOST = 64 };

struct collecting {
    struct session *session;
    struct stored_table *tables;
    size_t count;
};

static enum stored_type type_of(const char *declared)
{
    if (strcmp(declared, "INTEGER") == 0)
        return STORED_INTEGER;
    return strcmp(declared, "REAL") == 0 ? STORED_REAL : STORED_TEXT;
}

/* Returns the table of a name, which is the last one or a new one. NULL with `error` set. */
static struct stored_table *last_table(struct collecting *collecting, const char *name,
                                       struct session_error *error)
{
    struct stored_table *last =
        collecting->count > 0 ? &collecting->tables[collecting->count - 1] : NULL;
    if (last && strcmp(last->name, name) == 0)
        return last;
    struct stored_table *grown =
        realloc(collecting->tables, (collecting->count + 1) * sizeof(*grown));
    if (!grown)
        return session_fail_memory_null(error, "the list of tables");
    collecting->tables = grown;
    last = &grown[collecting->count];
    *last = (struct stored_table){.name = names_keep(&collecting->session->names, name, error)};
    if (!last->name)
        return NULL;
    collecting->count++;
    return last;
}

static bool add_column(void *context, const struct database_row *row, struct session_error *error)
{
    struct collecting *collecting = context;
    const char *declared = database_text(row, 2);
    struct stored_table *table = last_table(collecting, database_text(row, 0), error);
    if (!table)
        return false;
    if (table->count == COLUMNS_MOST)
        return session_fail(error, 0, "%s: table %.60s has too many columns",
                            session_path(collecting->session), table->name);
    struct stored_column *grown = realloc(table->columns, (table->count + 1) * sizeof(*grown));
    if (!grown)
        return session_fail_memory(error, "the list of tables");
    table->columns = grown;
    const char *name = names_keep(&collecting->session->names, database_text(row, 1), error);
    grown[table->count++] =
        (struct stored_column){name, type_of(declared ? declared : ""),
                               database_number(row, 3) != 0, database_number(row, 4) != 0};
    return name != NULL;
}

/* ---- derived tables ---- */

static bool clearing_rows(struct session *session, stored_row_visitor *visit, void *context,
                          struct session_error *error)
{
    uint8_t *clears = user_clears(session, error);
    bool good = clears != NULL;
    for (uint32_t stack = 1; good && stack < session->stacks.count; stack++) {
        char id[12];
        snprintf(id, sizeof(id), "%" PRIu32, stack);
        if (clears[stack])
            good = visit(context, (const char *const[]){id});
    }
    free(clears);
    return good;
}

static bool page_rows(struct session *session, stored_row_visitor *visit, void *context,
                      struct session_error *error)
{
    static const char *const states[] = {[SESSION_PAGE_PRESENT] = "present",
                                         [SESSION_PAGE_HUGE] = "huge",
                                         [SESSION_PAGE_ZERO] = "zero",
                                         [SESSION_PAGE_SWAPPED] = "swapped",
                                         [SESSION_PAGE_HUGETLB] = "hugetlb"};
    const struct session_residency *moments;
    size_t moment_count;
    bool good = residencies_of(session, 0, &moments, &moment_count, error);
    for (size_t i = 0; good && i < moment_count; i++) {
        struct session_page_run *runs;
        size_t count;
        good = session_residency_pages(session, &moments[i], &runs, &count, error);
        for (size_t k = 0; good && k < count; k++) {
            char id[12], address[24], size[24];
            snprintf(id, sizeof(id), "%" PRIu32, moments[i].id);
            snprintf(address, sizeof(address), "%" PRId64, (int64_t)runs[k].start);
            snprintf(size, sizeof(size), "%" PRIu64, runs[k].end - runs[k].start);
            good = visit(context, (const char *const[]){id, address, size, states[runs[k].state]});
        }
        free(runs);
    }
    return good;
}

static const struct {
    const char *name;
    stored_rows *derived;
    struct stored_column columns[4];
} derived_tables[] = {
    {"clearing_stack", clearing_rows, {{"stack_id", STORED_INTEGER, true, true}}},
    {"residency_page",
     page_rows,
     {{"residency_id", STORED_INTEGER, true, true},
      {"address", STORED_INTEGER, true, true},
      {"size", STORED_INTEGER, true, false},
      {"state", STORED_TEXT, true, false}}},
};

static bool add_derived(struct collecting *collecting, struct session_error *error)
{
    for (size_t i = 0; i < sizeof(derived_tables) / sizeof(*derived_tables); i++) {
        struct stored_table *table = last_table(collecting, derived_tables[i].name, error);
        if (!table || !(table->columns = malloc(sizeof(derived_tables[i].columns))))
            return session_fail_memory(error, "the list of tables");
        memcpy(table->columns, derived_tables[i].columns, sizeof(derived_tables[i].columns));
        table->derived = derived_tables[i].derived;
        while (table->count < 4 && table->columns[table->count].name)
            table->count++;
    }
    return true;
}

bool session_stored_tables(struct session *session, struct stored_table **tables, size_t *count,
                           struct session_error *error)
{
    struct collecting collecting = {.session = session};
    const bool good =
        database_each(session->database, stored_tables_sql, add_column, &collecting, error) &&
        add_derived(&collecting, error);
    *tables = collecting.tables;
    *count = collecting.count;
    if (!good) {
        session_stored_tables_free(*tables, *count);
        *tables = NULL;
        *count = 0;
    }
    return good;
}

void session_stored_tables_free(struct stored_table *tables, size_t count)
{
    for (size_t i = 0; tables && i < count; i++)
        free(tables[i].columns);
    free(tables);
}

/* ---- rows ---- */

struct reading {
    const struct stored_table *table;
    stored_row_visitor *visit;
    void *context;
};

static bool read_row(void *context, const struct database_row *row, struct session_error *error)
{
    const struct reading *reading = context;
    const char *values[COLUMNS_MOST];
    for (size_t i = 0; i < reading->table->count; i++)
        values[i] = database_text(row, (int)i);
    return reading->visit(reading->context, values);
}

bool session_stored_rows(struct session *session, const struct stored_table *table,
                         stored_row_visitor *visit, void *context, struct session_error *error)
{
    struct reading reading = {table, visit, context};
    if (table->derived)
        return table->derived(session, visit, context, error);
    char sql[4096];
    size_t used = (size_t)snprintf(sql, sizeof(sql), "SELECT ");
    for (size_t i = 0; i < table->count && used < sizeof(sql); i++)
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, "%s\"%s\"", i > 0 ? ", " : "",
                                 table->columns[i].name);
    if (used < sizeof(sql))
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, " FROM \"%s\"", table->name);
    if (used >= sizeof(sql))
        return session_fail(error, 0, "%s: table %.60s has too many columns", session_path(session),
                            table->name);
    return database_each(session->database, sql, read_row, &reading, error);
}
