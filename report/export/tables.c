/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables have the columns of docs/session-schema.md, and before them `session`: the name of the
 * session's file without .db. So one database may hold many sessions.
 */
#include "report/export/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/export/row_writer.h"
#include "report/output/output.h"
#include "session/stored_tables.h"

enum { COLUMNS_MOST = 80 };

/* ---- rows ---- */

struct writing {
    const struct stored_table *table;
    struct row_writer rows;
    const char *session;
};

static bool put_row(void *context, const char *const *values)
{
    struct writing *writing = context;
    struct row_writer *rows = &writing->rows;
    rows_text(rows, writing->session);
    for (size_t i = 0; i < writing->table->count; i++) {
        const enum stored_type type = writing->table->columns[i].type;
        if (!values[i] || type == STORED_TEXT)
            rows_text(rows, values[i]);
        else if (type == STORED_INTEGER)
            rows_signed(rows, strtoll(values[i], NULL, 10));
        else
            rows_real(rows, strtod(values[i], NULL));
    }
    return !rows->failed;
}

/* Returns the name of the session's file without folder and .db, which the caller frees. */
static char *session_name(const struct session *session)
{
    const char *path = session_path(session), *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path);
    char *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot > name && strcmp(dot, ".db") == 0)
        *dot = '\0';
    return name;
}

/* Opens a file of the folder. Returns NULL with the error set. */
static struct output *open_file(const struct export *export, const char *name, const char *suffix)
{
    struct output *output = NULL;
    char *path;
    if (asprintf(&path, "%s/%s%s", export->tables, name, suffix) < 0) {
        report_fail_memory(export->error, "a name");
        return NULL;
    }
    output = output_open(path, export->error);
    free(path);
    return output;
}

static struct output *put_table(const struct export *export, const struct stored_table *table,
                                const char *session, bool ndjson)
{
    const char *names[COLUMNS_MOST] = {"session"};
    struct writing writing = {.table = table, .session = session};
    struct output *output = open_file(export, table->name, ndjson ? ".ndjson" : ".csv");
    if (!output)
        return NULL;
    for (size_t i = 0; i < table->count; i++)
        names[i + 1] = table->columns[i].name;
    rows_begin(&writing.rows, output_stream(output), ndjson, names, table->count + 1);
    bool good = session_stored_rows(export->own.session, table, put_row, &writing, export->error);
    if (writing.rows.failed)
        good = report_fail_memory(export->error, "a row");
    if (good && output_finish(output, export->error))
        return output;
    output_discard(output);
    return NULL;
}

/* ---- scripts ---- */

enum dialect { POSTGRESQL, DUCKDB, CLICKHOUSE, DIALECTS };

static const struct {
    const char *file, *about;
    const char *types[3]; /* by stored_type */
    const char *end;      /* gathers statistics for the planner */
} dialects[DIALECTS] = {
    [POSTGRESQL] = {"load.postgresql.sql",
                    "-- Loads the tables into PostgreSQL 15 or newer: cd into this folder, then\n"
                    "-- psql -v ON_ERROR_STOP=1 -f load.postgresql.sql\n",
                    {"bigint", "double precision", "text"},
                    "ANALYZE;\n"},
    [DUCKDB] = {"load.duckdb.sql",
                "-- Loads the tables into DuckDB: cd into this folder, then\n"
                "-- duckdb sessions.duckdb -c '.read load.duckdb.sql'\n",
                {"BIGINT", "DOUBLE", "VARCHAR"},
                "ANALYZE;\n"},
    [CLICKHOUSE] = {"load.clickhouse.sql",
                    "-- Loads the tables into ClickHouse: cd into this folder, then\n"
                    "-- clickhouse-client --queries-file load.clickhouse.sql\n"
                    "-- No ANALYZE ends it: ClickHouse has none. It plans by the order of a table\n"
                    "-- and by the index and the row counts that INSERT writes.\n",
                    {"Int64", "Float64", "String"},
                    ""},
};

/* Returns true if PostgreSQL can keep the key unique: an index has no room for long texts. */
static bool has_plain_key(const struct stored_table *table)
{
    bool key = false;
    for (size_t i = 0; i < table->count; i++) {
        if (table->columns[i].key && table->columns[i].type == STORED_TEXT)
            return false;
        key |= table->columns[i].key;
    }
    return key;
}

static void put_keys(FILE *out, const struct stored_table *table)
{
    fputs("session", out);
    for (size_t i = 0; i < table->count; i++) {
        if (table->columns[i].key)
            fprintf(out, ", \"%s\"", table->columns[i].name);
    }
}

static void put_definition(FILE *out, const struct stored_table *table, enum dialect dialect)
{
    fprintf(out, "CREATE TABLE IF NOT EXISTS \"%s\" (\n  session %s%s", table->name,
            dialects[dialect].types[STORED_TEXT], dialect == CLICKHOUSE ? "" : " NOT NULL");
    for (size_t i = 0; i < table->count; i++) {
        const struct stored_column *column = &table->columns[i];
        const char *type = dialects[dialect].types[column->type];
        if (dialect == CLICKHOUSE && !column->required)
            fprintf(out, ",\n  \"%s\" Nullable(%s)", column->name, type);
        else
            fprintf(out, ",\n  \"%s\" %s%s", column->name, type,
                    dialect != CLICKHOUSE && column->required ? " NOT NULL" : "");
    }
    if (dialect == POSTGRESQL && has_plain_key(table)) {
        fputs(",\n  PRIMARY KEY (", out);
        put_keys(out, table);
        fputc(')', out);
    }
    fputs("\n)", out);
    if (dialect == CLICKHOUSE) {
        fputs(" ENGINE = MergeTree ORDER BY (", out);
        put_keys(out, table);
        fputc(')', out);
    }
    fputs(";\n", out);
}

/* PostgreSQL reads lines of JSON as text with one column: no line has a byte 1 or 2. */
static void put_postgresql_json(FILE *out, const char *name)
{
    fprintf(out,
            "CREATE TEMP TABLE line (json jsonb);\n"
            "\\copy line FROM '%s.ndjson' WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')\n"
            "INSERT INTO \"%s\" SELECT (jsonb_populate_record(NULL::\"%s\", json)).* FROM line;\n"
            "DROP TABLE line;\n",
            name, name, name);
}

static void put_load(FILE *out, const struct stored_table *table, enum dialect dialect, bool ndjson)
{
    const char *name = table->name;
    if (dialect == POSTGRESQL && ndjson)
        put_postgresql_json(out, name);
    else if (dialect == POSTGRESQL)
        fprintf(out, "\\copy \"%s\" FROM '%s.csv' WITH (FORMAT csv, HEADER match)\n", name, name);
    else if (dialect == DUCKDB && ndjson)
        fprintf(out, "COPY \"%s\" FROM '%s.ndjson' (FORMAT json, ARRAY false);\n", name, name);
    else if (dialect == DUCKDB)
        fprintf(out,
                "COPY \"%s\" FROM '%s.csv' (FORMAT csv, HEADER true, DELIMITER ',', QUOTE '\"', "
                "ESCAPE '\"', NULLSTR '', ALLOW_QUOTED_NULLS false, AUTO_DETECT false);\n",
                name, name);
    else
        fprintf(out, "INSERT INTO \"%s\" FROM INFILE '%s.%s' FORMAT %s;\n", name, name,
                ndjson ? "ndjson" : "csv", ndjson ? "JSONEachRow" : "CSVWithNames");
}

static struct output *put_script(const struct export *export, const struct stored_table *tables,
                                 size_t count, enum dialect dialect, bool ndjson)
{
    struct output *output = open_file(export, dialects[dialect].file, "");
    if (!output)
        return NULL;
    FILE *out = output_stream(output);
    fputs(dialects[dialect].about, out);
    for (size_t i = 0; i < count; i++) {
        put_definition(out, &tables[i], dialect);
        put_load(out, &tables[i], dialect, ndjson);
    }
    fputs(dialects[dialect].end, out);
    if (output_finish(output, export->error))
        return output;
    output_discard(output);
    return NULL;
}

/* ---- the folder ---- */

/* Writes all files, and gives them their names when all are whole. */
static bool put_files(const struct export *export, const struct stored_table *tables, size_t count,
                      const char *session, bool ndjson)
{
    struct output **files = calloc(count + DIALECTS, sizeof(struct output *));
    bool good = files || report_fail_memory(export->error, "the files");
    for (size_t i = 0; good && i < count; i++)
        good = (files[i] = put_table(export, &tables[i], session, ndjson)) != NULL;
    for (size_t i = 0; good && i < DIALECTS; i++)
        good =
            (files[count + i] = put_script(export, tables, count, (enum dialect)i, ndjson)) != NULL;
    for (size_t i = 0; files && i < count + DIALECTS; i++) {
        if (good)
            good = output_close(files[i], export->error);
        else
            output_discard(files[i]);
    }
    free(files);
    return good;
}

bool export_tables(const struct export *export, bool ndjson)
{
    struct stored_table *tables = NULL;
    size_t count = 0;
    char *session = session_name(export->own.session);
    if (!session)
        return report_fail_memory(export->error, "a name");
    const bool made = mkdir(export->tables, 0777) == 0;
    bool good = made || errno == EEXIST ||
                report_fail(export->error, "%.300s: cannot be made: %s; name another folder",
                            export->tables, strerror(errno));
    good = good && session_stored_tables(export->own.session, &tables, &count, export->error);
    good = good && put_files(export, tables, count, session, ndjson);
    if (made && !good)
        rmdir(export->tables);
    session_stored_tables_free(tables, count);
    free(session);
    return good;
}
