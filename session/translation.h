/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters as SQL for other databases: one query over the tables of mprof-export --tables, which
 * gives for each session there what the filter gives on it (docs/exports.md). It needs no session.
 *
 * Allocations are rows with `session` and `id`, groups rows with `session` and the joined fields,
 * and a measure is one row for each session with its `value`. They are in the order of the
 * sessions' names, and within one in that of the filter.
 *
 * A step that a database cannot answer exactly is refused.
 */
#pragma once

#include "session/session.h"

/* The databases. */
enum session_dialect { DIALECT_DUCKDB, DIALECT_POSTGRESQL, DIALECT_CLICKHOUSE, DIALECT_TOTAL };

/* Returns the name of a dialect in options: "duckdb", "postgresql", "clickhouse". */
const char *session_dialect_name(enum session_dialect dialect);

/*
 * Returns the query for a filter, or for the name of a saved one, malloc()ed. `session` has saved
 * filters; NULL: those of the user's folder and those that ship. Returns NULL with `error` and its
 * column set: the text does not parse, or a step cannot be translated.
 */
char *session_translate(struct session *session, const char *text, enum session_dialect dialect,
                        struct session_error *error);
