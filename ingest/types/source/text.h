/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads words and parentheses of a statement from source_statement.h: without comments and strings,
 * with single blanks.
 */
#ifndef MPROF_INGEST_TYPES_SOURCE_TEXT_H
#define MPROF_INGEST_TYPES_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* True for a character of an identifier. */
bool types_text_is_word(char c);

/* Returns the next `word` of the text that is not part of a longer word, or NULL. */
const char *types_text_find(const char *text, const char *word);

/* Returns the position after the parenthesis that closes the one at `open`, or NULL. */
const char *types_text_behind(const char *open);

const char *types_text_skip_blanks(const char *text);

#endif
