/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sql/table.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MOST (UINT64_C(64) << 20)

/* A value in a table. Texts lie one after another in `texts`, each with a NUL. */
struct stored {
    union {
        int64_t integer;
        double real;
        size_t text; /* its place */
    } of;
    uint16_t length;
    uint8_t kind;
    bool cut;
};

struct session_table {
    size_t columns, rows;
    enum session_table_end end;
    char **titles, **origins;
    struct stored *values; /* row * columns + column */
    size_t capacity;       /* of `values` */
    char *texts;
    size_t used, room; /* of `texts` */
};

struct session_table *table_new(sqlite3_stmt *statement)
{
    struct session_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    table->columns = (size_t)sqlite3_column_count(statement);
    table->titles = calloc(table->columns + 1, sizeof(*table->titles));
    table->origins = calloc(table->columns + 1, sizeof(*table->origins));
    bool good = table->titles && table->origins;
    for (size_t i = 0; good && i < table->columns; i++) {
        const char *title = sqlite3_column_name(statement, (int)i);
        const char *origin = sqlite3_column_table_name(statement, (int)i);
        table->titles[i] = strdup(title ? title : "?");
        table->origins[i] = strdup(origin ? origin : "");
        good = table->titles[i] && table->origins[i];
    }
    if (good)
        return table;
    session_table_free(table);
    return NULL;
}

void session_table_free(struct session_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; table->titles && i < table->columns; i++)
        free(table->titles[i]);
    for (size_t i = 0; table->origins && i < table->columns; i++)
        free(table->origins[i]);
    free(table->origins);
    free(table->titles);
    free(table->values);
    free(table->texts);
    free(table);
}

/* Makes room for one more row of values and `bytes` more of texts. */
static bool grow(struct session_table *table, size_t bytes)
{
    const size_t values = (table->rows + 1) * table->columns;
    if (values > table->capacity) {
        const size_t capacity = values * 2;
        struct stored *larger = realloc(table->values, capacity * sizeof(*larger));
        if (!larger)
            return false;
        table->values = larger;
        table->capacity = capacity;
    }
    if (table->used + bytes > table->room) {
        const size_t room = (table->used + bytes) * 2;
        char *larger = realloc(table->texts, room);
        if (!larger)
            return false;
        table->texts = larger;
        table->room = room;
    }
    return true;
}

/* Cuts a text that is too long, not within a character. */
static size_t kept_length(const char *bytes, size_t length, bool is_text)
{
    if (length <= SESSION_VALUE_MOST)
        return length;
    length = SESSION_VALUE_MOST;
    while (is_text && length > 0 && ((unsigned char)bytes[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static bool store_bytes(struct session_table *table, struct stored *value, const char *bytes,
                        size_t length, bool is_text)
{
    const size_t kept = kept_length(bytes, length, is_text);
    if (!grow(table, kept + 1))
        return false;
    value->of.text = table->used;
    value->length = (uint16_t)kept;
    value->cut = kept < length;
    if (kept > 0)
        memcpy(table->texts + table->used, bytes, kept);
    table->texts[table->used + kept] = 0;
    table->used += kept + 1;
    return true;
}

static bool store_value(struct session_table *table, sqlite3_stmt *statement, int column,
                        struct stored *value)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        value->kind = VALUE_INTEGER;
        value->of.integer = sqlite3_column_int64(statement, column);
        return true;
    case SQLITE_FLOAT:
        value->kind = VALUE_REAL;
        value->of.real = sqlite3_column_double(statement, column);
        return true;
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        value->kind = VALUE_TEXT;
        return text && store_bytes(table, value, text,
                                   (size_t)sqlite3_column_bytes(statement, column), true);
    }
    case SQLITE_BLOB: {
        const char *bytes = sqlite3_column_blob(statement, column);
        value->kind = VALUE_BLOB;
        return store_bytes(table, value, bytes, (size_t)sqlite3_column_bytes(statement, column),
                           false);
    }
    default:
        value->kind = VALUE_NULL;
        return true;
    }
}

bool table_add(struct session_table *table, sqlite3_stmt *statement, size_t rows_most, bool *full)
{
    const size_t size = table->used + table->rows * table->columns * sizeof(struct stored);
    *full = table->rows >= rows_most || size >= BYTES_MOST;
    if (*full) {
        table->end = table->rows >= rows_most ? TABLE_ROWS_MOST : TABLE_BYTES_MOST;
        return true;
    }
    if (!grow(table, 0))
        return false;
    for (size_t i = 0; i < table->columns; i++) {
        struct stored value = {.kind = VALUE_NULL};
        if (!store_value(table, statement, (int)i, &value))
            return false;
        table->values[table->rows * table->columns + i] = value;
    }
    table->rows++;
    return true;
}

size_t session_table_columns(const struct session_table *table)
{
    return table->columns;
}

size_t session_table_rows(const struct session_table *table)
{
    return table->rows;
}

enum session_table_end session_table_end(const struct session_table *table)
{
    return table->end;
}

const char *session_table_title(const struct session_table *table, size_t column)
{
    return table->titles[column];
}

const char *session_table_origin(const struct session_table *table, size_t column)
{
    return table->origins[column];
}

struct session_value session_table_value(const struct session_table *table, size_t row,
                                         size_t column)
{
    const struct stored *stored = &table->values[row * table->columns + column];
    struct session_value value = {.kind = (enum session_value_kind)stored->kind, .text = ""};
    if (value.kind == VALUE_INTEGER)
        value.integer = stored->of.integer;
    if (value.kind == VALUE_REAL)
        value.real = stored->of.real;
    if (value.kind == VALUE_TEXT || value.kind == VALUE_BLOB) {
        value.text = table->texts + stored->of.text;
        value.length = stored->length;
        value.cut = stored->cut;
    }
    return value;
}
