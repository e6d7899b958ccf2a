/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts read from the source text of one call site, kept for the blocks of all sizes that it
 * asks for: its statement, and the types that the statement names.
 */
#ifndef MPROF_INGEST_TYPES_SOURCE_STATEMENT_FACTS_H
#define MPROF_INGEST_TYPES_SOURCE_STATEMENT_FACTS_H

#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/site.h"

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

/*
 * Returns the statement at the site's level (types/source/source_statement.h), which is read once.
 * `column_of` gives its column in the line. NULL: there is none. The facts own it.
 */
const char *types_statement_facts_text(const struct types_site *site,
                                       uint32_t (*column_of)(const struct types_site *site));

/*
 * Looks up the kept answer for `text` at the site's level. `*found` tells whether there is a type,
 * and `type` is that type. Returns false if no answer was kept.
 */
bool types_statement_facts_find(const struct types_site *site, enum types_fact_kind kind,
                                const char *text, size_t length, bool *found,
                                struct types_type *type);

/* Keeps an answer. Without memory it is computed again next time. Returns `found`. */
bool types_statement_facts_keep(const struct types_site *site, enum types_fact_kind kind,
                                const char *text, size_t length, bool found,
                                const struct types_type *type);

#endif
