/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters as SQL for other databases: one query over the tables of mprof-export --tables, which
 * gives for each session there what the filter gives on it (docs/exports.md). It needs no session.
 *
 * Allocations are rows with `session` and `id`, groups rows with `session` and the joined fields,
 * and a measure is one row for each session with its `value`. They are in the order of the
 * sessions' names, and within one in that of the filter.
 *
 * With `by`, sessions with the same values of some keys of `meta`, such as labels, count as one:
 * the blocks of all make a group, and a measure has a row for each such set of sessions.
 *
 * A step that a database cannot answer exactly is refused. */
#pragma once

#include "session/session.h"

/* The databases. */
enum session_dialect { DIALECT_DUCKDB, DIALECT_POSTGRESQL, DIALECT_CLICKHOUSE, DIALECT_TOTAL };

/* The most keys of `by`. */
#define SESSION_BY_MOST 8u

/* Returns the name of a dialect in options: "duckdb", "postgresql", "clickhouse". */
const char *session_dialect_name(enum session_dialect dialect);

/* Returns the query for a filter, or for the name of a saved one, malloc()ed. `session` has saved
 * filters; NULL: those of the user's folder and those that ship. `by` has keys of letters, digits
 * and . _ - / alone, at most SESSION_BY_MOST, with commas between them; NULL: none. Returns NULL
 * with `error` and its column set: the text does not parse, or a step cannot be translated. */
char *session_translate(struct session *session, const char *text, enum session_dialect dialect,
                        const char *by, struct session_error *error);
