/* SPDX-License-Identifier: BSD-2-Clause */
/* csv and ndjson: the rows of a filter graph. Allocations come in the order of time; groups have
 * their keys and all measures; a measure is one row. Against a base, groups have the differences of
 * their sums, and allocations are those that one side has more of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/export/export.h"
#include "session/groups.h"

/* Writes rows of a table as CSV (RFC 4180, with a line of names) or as NDJSON (an object a line).
 * NULL is an empty field, or null. Text is valid UTF-8; in CSV it is quoted, and each byte of what
 * could steer a terminal becomes U+FFFD, in NDJSON this is escaped. */

struct json;
struct parquet;

/* The next value belongs to column `next`. */
struct row_writer {
    FILE *out;
    const char *const *names;
    size_t count, next;
    bool ndjson, failed;
    struct json *json;            /* of the present line */
    struct parquet *parquet;      /* NULL: lines are written */
    const char *const *constants; /* of Parquet: the texts that each row begins with */
    size_t constant_count;
};

/* Begins a table. `names` must live until its end. */
void rows_begin(struct row_writer *rows, FILE *out, bool ndjson, const char *const *names,
                size_t count);
void rows_signed(struct row_writer *rows, int64_t number);

/* Begins a file of allocations; `change`: their first column is "change". */
void rows_begin_allocations(struct row_writer *rows, const struct export *export, bool ndjson,
                            bool change);
/* Writes the allocations of a selection of `session` in the order of time. `change` is the value of
 * the first column, 0: there is none. Returns false with the error set. */
bool rows_put_allocations(struct row_writer *rows, const struct export *export,
                          struct session *session, struct selection *selection, int change);

/* Writes a key of a group. */
void rows_put_key(struct row_writer *rows, const struct session_group_set *set, size_t row,
                  size_t key);

/* Writes what the result of the filter has more or less than the same filter in the base. Returns
 * false with the error set. */
bool rows_put_difference(struct export *export, const struct graph_result *own, bool ndjson);

/* All tables of a session as files that other databases load. */

enum table_form { TABLES_CSV, TABLES_NDJSON, TABLES_PARQUET };

/* Writes all tables into the folder of --tables, which is made if it does not exist, and scripts
 * for databases. CSV and NDJSON: TABLE.csv or TABLE.ndjson, and the scripts load them. Parquet:
 * TABLE/service=…/day=…/SESSION.parquet, beside those of other sessions, and the scripts make views
 * of them. Returns false with the error set. */
bool export_tables(const struct export *export, enum table_form form);
