/* SPDX-License-Identifier: BSD-2-Clause */
/* Places in the text of a filter graph (schemas/filter-language.md). */
#ifndef MPROF_REPORT_OUTPUT_FILTER_TEXT_H
#define MPROF_REPORT_OUTPUT_FILTER_TEXT_H

#include <stdbool.h>

/* Returns true if a text has no pipeline: NULL, or only blanks. */
bool filter_text_blank(const char *text);

/* Returns the place after the last definition: its `;` is not part of a string. The beginning of
 * the text if it defines nothing. */
const char *filter_text_pipeline(const char *text);

/* Returns the column of the last step of the pipeline, or of its set if it has no steps. Columns
 * count characters from 1, as in errors. */
int filter_text_last_step(const char *text);

#endif
