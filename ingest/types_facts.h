/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was read about one call site, kept for the blocks of all sizes that it asks for: the
 * function that it calls, its statement, and the types that the statement names. Only what does not
 * depend on a size belongs here.
 */
#ifndef MPROF_INGEST_TYPES_FACTS_H
#define MPROF_INGEST_TYPES_FACTS_H

#include "ingest/types_calls.h"

struct types_level;
struct types_named_fact;

struct types_facts {
    struct types_call called;
    bool called_known;
    bool nameless;              /* no frame's own name says the type: that was asked, and is so */
    struct types_level *levels; /* of the site's entries; NULL: no statement was asked for */
    struct types_named_fact *named;
    size_t named_count, named_capacity;
};

enum types_fact_kind {
    TYPES_FACT_NAME,    /* types_expression_name() */
    TYPES_FACT_VALUE,   /* types_expression_value() */
    TYPES_FACT_RECEIVER /* types_receiver() */
};

/* NULL where memory is exhausted. */
struct types_facts *types_facts_new(void);
/* `levels` is the site's entry_count. */
void types_facts_free(struct types_facts *facts, size_t levels);

/*
 * The statement at the site's level (types_statement.h), read once; `column_of` says where in its
 * line. NULL: there is none. Belongs to the facts.
 */
const char *types_facts_statement(const struct types_site *site,
                                  uint32_t (*column_of)(const struct types_site *site));

/*
 * The answer that was kept for `text` at the site's level: `*found` says whether there is a type,
 * and `type` is it. False where none was kept.
 */
bool types_facts_find(const struct types_site *site, enum types_fact_kind kind, const char *text,
                      size_t length, bool *found, struct types_type *type);

/* Keeps an answer. Without memory it is asked for again. Returns `found`. */
bool types_facts_keep(const struct types_site *site, enum types_fact_kind kind, const char *text,
                      size_t length, bool found, const struct types_type *type);

#endif
