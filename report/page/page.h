/* SPDX-License-Identifier: BSD-2-Clause */
/* One HTML file about a session, for somebody without mprof: its numbers as JSON (schemas/page.md),
 * and a script of its own that draws them. It loads nothing. */
#pragma once

#include <stdio.h>

#include "report/tables/reports.h"

struct history; /* report/budget/history.h */

/* Writes the page of what the request selects, beside its base if it has one, and the trend of a
 * history, which may be NULL. Returns false with `error` set. */
bool page_write(const struct report_request *request, const struct history *history, FILE *out,
                struct session_error *error);
