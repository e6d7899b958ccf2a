/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats of document_write(), each in its file. */
#ifndef MPROF_REPORT_DOCUMENT_FORMATS_H
#define MPROF_REPORT_DOCUMENT_FORMATS_H

#include <stdio.h>

#include "report/document/document.h"

void document_write_text(const struct document *document, FILE *out);
void document_write_markdown(const struct document *document, FILE *out);
/* Writes the first table, or the facts of a document that begins with none. */
void document_write_csv(const struct document *document, FILE *out);
/* Returns false if memory was exhausted. */
bool document_write_json(const struct document *document, const struct document_about *about,
                         FILE *out);

/* Returns what people see of a value that is neither text nor frames: "~1,234", "2.5 ms". The text
 * is in `room`. */
const char *value_format(const struct document_value *value, char room[64]);
/* Returns the frames of a value of FRAMES, innermost first. They are valid until the next call. */
const struct session_frame *value_frames(const struct document_value *value, size_t *count);
/* Returns what programs see of it in CSV: "1234". */
const char *value_plain(const struct document_value *value, char room[64]);
/* Returns the title, or the name with blanks in `room`. */
const char *column_title(const char *name, const char *title, char room[64]);

#endif
