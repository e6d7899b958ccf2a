/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the budgets of a file on a session, and finds what explains those that are exceeded. */
#pragma once

#include <stdio.h>

#include "report/budget/budget_file.h"
#include "report/budget/causes.h"
#include "report/budget/history.h"
#include "report/document/document.h"

/* UNKNOWN: the session cannot tell, because it was recorded only in part. */
enum budget_verdict { BUDGET_KEPT, BUDGET_EXCEEDED, BUDGET_WRONG, BUDGET_UNKNOWN };

struct budget_result {
    enum budget_verdict verdict;
    char *measure_name;             /* "sum size"; NULL: not measured */
    struct session_measure measure; /* its `name` is `measure_name` */
    bool has_base;
    struct session_measure base; /* or the median of earlier runs */
    size_t median_runs;          /* so many; 0: it is not a median */
    bool has_limit, limit_negative;
    uint64_t limit;
    char error[512];             /* of WRONG: the place and what was expected; of UNKNOWN: why */
    struct budget_causes causes; /* of EXCEEDED */
};

struct budget_check {
    const struct budget_file *file;
    struct budget_result *results; /* of each budget */
    size_t exceeded, wrong, unknown;
};

/* Checks all budgets. `base` is a session, `history` the runs before, either may be NULL. Prints
 * warnings on standard error. Returns false with `error` set if a session cannot be read.
 * budget_check_free() in any case. */
bool budget_check_run(struct budget_check *check, const struct budget_file *file,
                      struct session *session, struct session *base, const struct history *history,
                      struct session_error *error);
void budget_check_free(struct budget_check *check);

/* Adds the results as tables. */
void budget_check_document(const struct budget_check *check, struct document *document);

extern const char *const budget_verdict_names[]; /* by verdict */
/* Returns the name of the unit of a measure, NULL if there is none. */
const char *budget_unit_name(const struct budget_result *result);
/* Return a measure, and the limit of a result, as values. */
struct document_value budget_measured(const struct session_measure *measure);
struct document_value budget_limit_value(const struct budget_result *result);

/* ---- verdicts as the servers that build and review code read them --------------------------- */

/* The XML that CI servers read as results of JUnit. `name` names the session. */
void verdicts_junit(const struct budget_check *check, const char *name, FILE *out);
/* Annotations of GitHub's workflow commands: a line for each budget that is not kept. */
void verdicts_github(const struct budget_check *check, FILE *out);
/* SARIF 2.1.0. Returns false if memory was exhausted. */
bool verdicts_sarif(const struct budget_check *check, FILE *out);
/* A comment on a change: the verdicts in a table, and what explains those that are exceeded. */
void verdicts_markdown(const struct budget_check *check, FILE *out);
