/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the statement at a line of a source file as one line of text, without comments and strings,
 * and with single blanks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/site.h"

#define TYPES_STATEMENT_MAX 1024

/* The files read last. */
struct types_sources;

/* Makes an empty store of files. A file with an absolute path is looked for below `root` first
 * (NULL: there is none), then as it is. Returns NULL if memory is exhausted. */
struct types_sources *types_sources_new(const char *root);
void types_sources_free(struct types_sources *sources);

struct cache_depends;
/* From now on adds each file to `depends` before it is looked for. NULL: to none. */
void types_sources_note(struct types_sources *sources, struct cache_depends *depends);

/* Returns how often a file was read. */
uint64_t types_sources_files_read(const struct types_sources *sources);

/* Reads the statement at `line` and `column`, from 1. Column 0 means unknown: then it reads the
 * first of several statements in the line, unless another could allocate. Returns false if the file
 * cannot be read, is newer than `built`, has no such line, or the statement is longer than
 * TYPES_STATEMENT_MAX. */
bool types_source_statement_read(struct types_sources *sources, const char *file, uint32_t line,
                                 uint32_t column, time_t built,
                                 char statement[TYPES_STATEMENT_MAX]);

/* Does the same with the lines of `text`. */
bool types_source_statement_at(const char *text, uint32_t line, uint32_t column,
                               char statement[TYPES_STATEMENT_MAX]);

/* ---- words and parentheses of a statement's text ---------------------------------------- */

/* Returns true if it is a character of an identifier. */
bool types_text_is_word(char c);

/* Returns the next `word` of the text that is not part of a longer word, or NULL. */
const char *types_text_find(const char *text, const char *word);

/* Returns the position after the parenthesis that closes the one at `open`, or NULL. */
const char *types_text_after(const char *open);

const char *types_text_skip_blanks(const char *text);

/* The facts read from the source text of one call site, kept for the blocks of all sizes that it
 * asks for: its statement, and the types that the statement names. */

struct types_statement_facts;

enum types_fact_kind {
    TYPES_FACT_NAME,  /* types_expression_name() */
    TYPES_FACT_VALUE, /* types_expression_value() */
    TYPES_FACT_TARGET /* types_assignment_target() */
};

/* Returns NULL if memory is exhausted. */
struct types_statement_facts *types_statement_facts_new(void);
/* Frees the facts. `levels` is the site's entry_count. */
void types_statement_facts_free(struct types_statement_facts *facts, size_t levels);

/* Returns the statement at the site's level (types/source/source_statement.h), which is read once.
 * `column_of` gives its column in the line. NULL: there is none. The facts own it. */
const char *types_statement_facts_text(const struct types_site *site,
                                       uint32_t (*column_of)(const struct types_site *site));

/* Looks up the kept answer for `text` at the site's level. `*found` tells whether there is a type,
 * and `type` is that type. Returns false if no answer was kept. */
bool types_statement_facts_find(const struct types_site *site, enum types_fact_kind kind,
                                const char *text, size_t length, bool *found,
                                struct types_type *type);

/* Keeps an answer. Without memory it is computed again next time. Returns `found`. */
bool types_statement_facts_keep(const struct types_site *site, enum types_fact_kind kind,
                                const char *text, size_t length, bool found,
                                const struct types_type *type);
