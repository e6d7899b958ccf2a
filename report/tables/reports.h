/* SPDX-License-Identifier: BSD-2-Clause */
/* The reports of mprof-report that are documents of facts and tables. */
#ifndef MPROF_REPORT_TABLES_REPORTS_H
#define MPROF_REPORT_TABLES_REPORTS_H

#include "report/tables/request.h"

struct report_kind {
    const char *name;
    /* Fills the document. Returns false with `error` set. */
    bool (*write)(const struct report_request *request, struct document *document,
                  struct session_error *error);
    enum report_by by; /* the default; BY_DEFAULT: the report takes no --by */
    bool base;         /* needs --base */
};

/* Finds a report. NULL: there is none of that name. */
const struct report_kind *report_find(const char *name);

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
bool report_short_lived(const struct report_request *request, struct document *document,
                        struct session_error *error);

#endif
