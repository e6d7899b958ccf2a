/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes names from outside (functions, types, files, threads, arguments), which may hold any
 * bytes, in the form of a format. The formats for programs get valid UTF-8: each other byte becomes
 * U+FFFD. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes valid UTF-8 without NUL to `out`, with U+FFFD for each other byte. Control characters
 * stay. Cuts text that does not fit into `size` bytes (at least 1) before a character. Returns the
 * length without the NUL. */
size_t name_utf8(char *out, size_t size, const char *text);
/* Returns the same as new memory that the caller frees, NULL if there is none. */
char *name_utf8_copy(const char *text, size_t *length);

/* Writes the printable form of messages and terminals (schemas/printable.h). Returns the columns
 * that it takes: one for each character. */
size_t name_put_text(FILE *out, const char *text);
size_t name_text_columns(const char *text);
/* Writes a quoted text of RFC 4180, valid UTF-8: U+FFFD for bytes that could steer a terminal. */
void name_put_csv(FILE *out, const char *text);
/* Writes a byte as it is, or as %20. */
void name_put_percent(FILE *out, char byte, bool plain);
/* Returns a number of bytes with a unit that is easy to read, as "1.2 MiB", in `room`. */
const char *bytes_human(uint64_t bytes, char room[32]);

/* Writes a cell of a Markdown table: printable, with a backslash before what Markdown reads. */
void name_put_markdown(FILE *out, const char *text);
/* Writes the text of an XML 1.0 element or attribute. Characters that XML forbids become U+FFFD,
 * and what could steer a terminal becomes a number (&#x202e;). */
void name_put_xml(FILE *out, const char *text);
