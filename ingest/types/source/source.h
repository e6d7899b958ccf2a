/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the type that the source text of an allocation names: the operand of `sizeof`, the type of
 * a cast before the call, or the type after `new`. It looks up the name in the debug information
 * and compares its size with the block's.
 *
 * The text is used only if the file can be read and is not newer than the program. */
#pragma once

#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/records.h"
#include "ingest/types/dwarf/site.h"

/* The type that a rule chose for a block. The statement, the machine code and the compiler each
 * have rules; ingest/types/choose.h applies them in their order. */

enum types_operator {
    TYPES_BY_FUNCTION,   /* malloc and its kin */
    TYPES_BY_NEW,        /* operator new: one object */
    TYPES_BY_NEW_LARGER, /* a class's operator new that takes a number of further bytes */
    TYPES_BY_NEW_ARRAY   /* operator new[] */
};

struct types_choice {
    bool chosen;
    bool wrapper;   /* nothing chosen, and the function returns the result to its caller untyped */
    bool ambiguous; /* nothing chosen: the type depends on a branch after the call */
    struct types_type type;
    const char *named; /* instead of a type: the name of a class that is only declared here, kept
                          until symbols_free(), or NULL */
    uint64_t offset;   /* of the first element */
    bool exact_size;   /* the type has exactly the size of the block */
    bool one_object;   /* one object of any size: it ends in a flexible array */
    bool from_caller;  /* from the source around an inlined function that hands memory on */
    enum types_confidence confidence;
    enum types_rule rule;
};

/* ---- source -------------------------------------------------------------------------------- */

/* Chooses by the statement at the site's innermost line, for a block of `size` bytes with `offset`
 * bytes before the first element. For inlined functions that hand memory on without a type, it uses
 * the statement that calls them. `front`: the assignment's target may name a record with other
 * bytes after it. Returns true and fills `choice` if exactly one named type fits. */
bool types_source_choose(const struct types_site *site, enum types_operator by, uint64_t size,
                         int64_t offset, bool front, struct types_choice *choice);

/* A statement's word about a call of operator new. */
enum types_new_statement {
    TYPES_NEW_UNSTATED,
    TYPES_NEW_EXPRESSION, /* "new T", which passes the size of one object */
    TYPES_NEW_CALL        /* "operator new(size)", which passes any size */
};
enum types_new_statement types_source_new(const struct types_site *site);

/* Returns true if the statement puts an otherwise unnamed block into a pointer to bytes. */
bool types_source_bytes(const struct types_site *site, uint64_t size, int64_t offset,
                        struct types_choice *choice);

/* Returns true if the statement keeps a block of a fixed number of bytes in a pointer to bytes or
 * void, as a pool does. The type at its start is then only that of the first piece. `choice` is the
 * result so far. A type that fills the block, or that the code around it makes the element of an
 * array, stays. */
bool types_source_pool(const struct types_site *site, uint64_t size, int64_t offset,
                       struct types_choice *choice);

/* ---- names and simple expressions in source text --------------------------------------------- */

/* Finds the type that `text` (`length` bytes) names: "struct point", "unsigned long",
 * "ns::Box<int>". Among types with that last name, those of the site's unit come first. Returns
 * false if there is none, or if several of different sizes could be meant. */
bool types_expression_name(const struct types_site *site, const char *text, size_t length,
                           struct types_type *type);

/* Finds the type of "*p", "p[0]", "*table->items", "object.member" of the site's variables. */
bool types_expression_value(const struct types_site *site, const char *text, size_t length,
                            struct types_type *type);
