/* SPDX-License-Identifier: BSD-2-Clause */
/* The reports of mprof-report that are documents of facts and tables. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/document/document.h"
#include "session/findings.h"
#include "session/groups.h"

/* ---- the options of a report, and the filters that answer it ---- */

struct suppressions; /* schemas/code/suppressions.h */

/* The ways to group. DEFAULT is the report's own. */
enum report_by {
    BY_DEFAULT,
    BY_USER,
    BY_FUNCTION,
    BY_TYPE,
    BY_LINE,
    BY_MODULE,
    BY_THREAD,
    BY_STACK,
    BY_SIZE, /* not for users */
};
/* Finds a way by its name. */
bool report_by(const char *name, enum report_by *by);

struct report_request {
    struct session *session, *base;          /* base NULL: none is named */
    const char *filter;                      /* NULL: all */
    const char *at;                          /* only blocks live at this time; NULL: all */
    const struct suppressions *suppressions; /* stacks that are not leaks, or NULL */
    const char *reach; /* a predicate of the field reachability that leaks fit, or NULL: all */
    enum report_by by;
    uint64_t top; /* rows of a table; 0: all */
    bool groups;  /* the filter gives groups: request_check() notes it */
};

/* Runs the texts of --filter and --at alone, so that an error has its column in the user's text
 * (`error->column`, 0 if no text is to blame). Prints warnings on standard error. Returns false
 * with `error` set; `*wrong` then names the option. Call it before the other functions. */
bool request_check(struct report_request *request, struct session *session, const char **wrong,
                   struct session_error *error);

/* Runs the request's sentence on a session: the blocks of the filter and of --at that are also in
 * `set` (NULL: no more limits), then the steps (NULL: none; else "| where …"). Returns NULL with
 * `error` set. */
struct graph_result *request_run(const struct report_request *request, struct session *session,
                                 const char *set, const char *steps, struct session_error *error);

/* Runs a sentence that ends in a measure. */
bool request_measure(const struct report_request *request, struct session *session, const char *set,
                     const char *steps, struct session_measure *measure,
                     struct session_error *error);

/* Stores the standard error of the bytes that are live at a time, 0 if the session is not sampled:
 * that of a peak, at its moment. */
bool request_error_at(const struct report_request *request, uint64_t ns, double *standard_error,
                      struct session_error *error);

/* Returns the filter and --at of a request as a set for others to limit, "" for everything: new
 * memory. NULL: the filter defines names, or memory is exhausted. */
char *request_limits(const struct report_request *request);
/* Finds what `limits` selects, by its weight against `peak` bytes. False with `error` set. */
bool findings_find(struct session *session, const char *limits, uint64_t peak,
                   struct ranked_finding findings[RANKED_MOST], size_t *count,
                   struct session_error *error);

struct report_kind {
    const char *name;
    /* Fills the document. Returns false with `error` set. */
    bool (*write)(const struct report_request *request, struct document *document,
                  struct session_error *error);
    enum report_by by; /* the default; BY_DEFAULT: the report takes no --by */
    bool base;         /* needs --base */
    bool history;      /* is of a history, and of no session: it has no `write` */
};

bool report_summary(const struct report_request *request, struct document *document,
                    struct session_error *error);
bool report_peak(const struct report_request *request, struct document *document,
                 struct session_error *error);
bool report_leaks(const struct report_request *request, struct document *document,
                  struct session_error *error);
bool report_functions(const struct report_request *request, struct document *document,
                      struct session_error *error);
bool report_types(const struct report_request *request, struct document *document,
                  struct session_error *error);
bool report_lines(const struct report_request *request, struct document *document,
                  struct session_error *error);
bool report_sizes(const struct report_request *request, struct document *document,
                  struct session_error *error);
bool report_fragmentation(const struct report_request *request, struct document *document,
                          struct session_error *error);
bool report_diff(const struct report_request *request, struct document *document,
                 struct session_error *error);
bool report_retained(const struct report_request *request, struct document *document,
                     struct session_error *error);
bool report_rss(const struct report_request *request, struct document *document,
                struct session_error *error);
bool report_findings(const struct report_request *request, struct document *document,
                     struct session_error *error);
bool report_short_lived(const struct report_request *request, struct document *document,
                        struct session_error *error);

/* Reads the lines leak:PATTERN. Says on standard error which lines of other sanitizers it ignores.
 * Returns NULL with `error` set: the file cannot be read, or a line is not a suppression; `*wrong`
 * tells the latter. The caller suppressions_free()s the list. */
struct suppressions *suppress_read(const char *path, bool *wrong, struct session_error *error);
