/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words and parentheses of a statement as types_statement.h gives it: comments and strings are
 * gone, blanks are one space each.
 */
#ifndef MPROF_INGEST_TYPES_TEXT_H
#define MPROF_INGEST_TYPES_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* True for a character of identifiers. */
bool types_text_is_word(char c);

/* The next `word` of the text that is a word of its own; NULL: none. */
const char *types_text_find(const char *text, const char *word);

/* Behind the parenthesis that closes the one at `open`; NULL where none does. */
const char *types_text_behind(const char *open);

const char *types_text_skip_blanks(const char *text);

#endif
