/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts read about one call site, kept for the blocks of all sizes that it asks for: the
 * function that it calls, its statement, and the types that the statement names. They do not depend
 * on a size.
 */
#ifndef MPROF_INGEST_TYPES_SITE_FACTS_H
#define MPROF_INGEST_TYPES_SITE_FACTS_H

#include "ingest/types/flow/calls.h"

struct types_level;
struct types_named_fact;

struct types_site_facts {
    struct types_call called;
    bool called_known;
    bool nameless; /* the frames' names were read and do not give the type */
    struct types_level
        *levels; /* one for each of the site's entries; NULL: no statement was read */
    struct types_named_fact *named;
    size_t named_count, named_capacity;
};

enum types_fact_kind {
    TYPES_FACT_NAME,  /* types_expression_name() */
    TYPES_FACT_VALUE, /* types_expression_value() */
    TYPES_FACT_TARGET /* types_assignment_target() */
};

/* Returns NULL if memory is exhausted. */
struct types_site_facts *types_site_facts_new(void);
/* Frees the facts. `levels` is the site's entry_count. */
void types_site_facts_free(struct types_site_facts *facts, size_t levels);

/*
 * Returns the statement at the site's level (types/source/source_statement.h), which is read once.
 * `column_of` gives its column in the line. NULL: there is none. The facts own it.
 */
const char *types_site_facts_statement(const struct types_site *site,
                                       uint32_t (*column_of)(const struct types_site *site));

/*
 * Looks up the kept answer for `text` at the site's level. `*found` tells whether there is a type,
 * and `type` is that type. Returns false if no answer was kept.
 */
bool types_site_facts_find(const struct types_site *site, enum types_fact_kind kind,
                           const char *text, size_t length, bool *found, struct types_type *type);

/* Keeps an answer. Without memory it is computed again next time. Returns `found`. */
bool types_site_facts_keep(const struct types_site *site, enum types_fact_kind kind,
                           const char *text, size_t length, bool found,
                           const struct types_type *type);

#endif
