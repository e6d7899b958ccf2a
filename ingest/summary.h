/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints mprof-ingest's summary: ten lines, and a few more for several processes. */
#pragma once

#include <stdio.h>

#include "ingest/ingest.h"
#include "ingest/write/merge.h"

/* Prints the processes of a run as a tree, with the selected one marked, and then tells which
 * process the rest of the summary is about. */
void summary_run_print(FILE *out, const struct run *run);

void summary_print(FILE *out, const struct ingest_summary *summary, const char *session);

/* Prints how much each suppression left out of the leaks of all processes. */
void summary_suppressed_print(FILE *out, const struct suppressed_list *list);
