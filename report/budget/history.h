/* SPDX-License-Identifier: BSD-2-Clause */
/* The measures of many runs, one line of JSON each (docs/budgets.md): what --history appends, what
 * a limit `median(last N)` compares with, and what `mprof-report trend` shows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct history_value {
    char *name, *unit; /* of the budget; as in reports: "bytes", "number", "ns", "ns since start" */
    bool is_null;
    int64_t value;
};

struct history_run {
    char *time, *label, *program; /* "": not known */
    struct history_value *values;
    size_t count;
};

struct history {
    struct history_run *runs; /* the oldest first */
    size_t count, capacity;
};

/* Reads a file. One that does not exist has no runs if `may_miss`. Returns false with `error` set:
 * the file, the line, and what is wrong. history_free() in any case. */
bool history_read(struct history *history, const char *path, bool may_miss,
                  struct session_error *error);
void history_free(struct history *history);

/* Finds the value of a budget in a run, NULL if the run did not measure it in that unit. */
const struct history_value *history_find(const struct history_run *run, const char *name,
                                         const char *unit);
/* Returns true if a value, which is not null, is the first one of its budget and unit. */
bool history_is_first(const struct history *history, size_t run, size_t at);
/* Stores the median of a budget over the last runs that measured it, at most `last` of them: of an
 * even number the lower one of the two in the middle, so that it is a value that a run had. Returns
 * the number of runs; 0: there is no median. */
size_t history_median(const struct history *history, const char *name, const char *unit,
                      size_t last, int64_t *median);

struct budget_check;

/* Appends the run as one line. A file that does not end in a whole line, or whose lines are not
 * runs, stays as it is. `label` may be NULL. Returns false with `error` set. */
bool history_append(const char *path, const struct budget_check *check,
                    const struct session *session, const char *label, struct session_error *error);

struct document;

/* Makes the report `trend`: a row for each budget, with a line of its values. */
void history_document(const struct history *history, struct document *document);
