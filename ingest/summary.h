/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What mprof-ingest says at the end, in ten lines, and a few more of a run of several processes.
 */
#ifndef MPROF_INGEST_SUMMARY_H
#define MPROF_INGEST_SUMMARY_H

#include <stdio.h>

#include "ingest/ingest.h"
#include "ingest/writer_run.h"
#include "ingest/writer_suppressed.h"

/* The processes of a run as a tree, the selected one marked, and which one the rest is of. */
void summary_run_print(FILE *out, const struct run *run);

void summary_print(FILE *out, const struct ingest_summary *summary, const char *session);

/* Prints how much each suppression left out of the leaks of all processes. */
void summary_suppressed_print(FILE *out, const struct suppressed_list *list);

#endif
