/* SPDX-License-Identifier: BSD-2-Clause */
/* The four tables of mprof, the profiler for C and Lisp programs of 1988: Benjamin Zorn and Paul
 * Hilfinger, "A Memory Allocation Profiler for C and Lisp Programs", Summer 1988 USENIX Conference,
 * and its man page. Widths of columns are minima: no number is cut, and no two columns touch. */
#pragma once

#include "report/tables/reports.h"

enum tables_detail { TABLES_TERSE, TABLES_NORMAL, TABLES_VERBOSE };

struct tables_options {
    enum tables_detail detail;
    bool no_leaks, offsets; /* without table 2; with call sites in it */
    uint64_t top;           /* rows of tables 2 and 3, entries of table 4; 0: all */
};

/* Writes the tables. Returns false with `error` set. */
bool nineteen88_write(const struct report_request *request, const struct tables_options *options,
                      FILE *out, struct session_error *error);
