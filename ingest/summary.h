/*
 * What mprof-ingest says at the end, in ten lines.
 */
#ifndef MPROF_INGEST_SUMMARY_H
#define MPROF_INGEST_SUMMARY_H

#include <stdio.h>

#include "ingest/ingest.h"

void summary_print(FILE *out, const struct ingest_summary *summary, const char *session);

#endif
