/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the budgets of a file on a session, and says who holds most where one is exceeded. */
#ifndef MPROF_REPORT_BUDGET_CHECK_H
#define MPROF_REPORT_BUDGET_CHECK_H

#include "report/budget/budget_file.h"
#include "report/budget/limit.h"
#include "report/document/document.h"

/* UNKNOWN: the session cannot tell, because it was recorded only in part. */
enum budget_verdict { BUDGET_KEPT, BUDGET_EXCEEDED, BUDGET_WRONG, BUDGET_UNKNOWN };

#define HOLDERS_MOST 3

/* A function that holds much of what a budget measures. */
struct budget_holder {
    char *function, *module; /* NULL: not known */
    uint64_t value, whole;   /* bytes, or allocations if the measure counts */
    bool counts;
    double standard_error; /* 0 if the session is not sampled */
};

struct budget_result {
    enum budget_verdict verdict;
    char *measure_name;             /* "sum size"; NULL: not measured */
    struct session_measure measure; /* its `name` is `measure_name` */
    bool has_base;
    struct session_measure base;
    bool has_limit, limit_negative;
    uint64_t limit;
    char error[512]; /* of WRONG: the place and what was expected; of UNKNOWN: why */
    struct budget_holder holders[HOLDERS_MOST];
    size_t holder_count;
};

struct budget_check {
    const struct budget_file *file;
    struct budget_result *results; /* of each budget */
    size_t exceeded, wrong, unknown;
};

/* Checks all budgets. `base` is a session or NULL. Prints warnings on standard error. Returns false
 * with `error` set if a session cannot be read. budget_check_free() in any case. */
bool budget_check_run(struct budget_check *check, const struct budget_file *file,
                      struct session *session, struct session *base, struct session_error *error);
void budget_check_free(struct budget_check *check);

/* Adds the results as tables. */
void budget_check_document(const struct budget_check *check, struct document *document);
/* Writes them in the XML that CI servers read as results of JUnit. `name` names the session. */
void budget_check_junit(const struct budget_check *check, const char *name, FILE *out);

#endif
