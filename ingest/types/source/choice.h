/* SPDX-License-Identifier: BSD-2-Clause */
/* The type that a rule chose for a block. The statement, the machine code and the compiler each
 * have rules; ingest/types/decide.h applies them in their order. */
#ifndef MPROF_INGEST_TYPES_SOURCE_CHOICE_H
#define MPROF_INGEST_TYPES_SOURCE_CHOICE_H

#include "ingest/types/dwarf/entries.h"
#include "ingest/types/source/rule.h"

enum types_operator {
    TYPES_BY_FUNCTION,  /* malloc and its kin */
    TYPES_BY_NEW,       /* operator new: one object */
    TYPES_BY_NEW_ARRAY, /* operator new[] */
};

struct types_choice {
    bool chosen;
    bool wrapper;   /* nothing chosen, and the function returns the result to its caller untyped */
    bool ambiguous; /* nothing chosen: the type depends on a branch after the call */
    struct types_type type;
    uint64_t offset;  /* of the first element */
    bool exact_size;  /* the type has exactly the size of the block */
    bool one_object;  /* one object of any size: it ends in a flexible array */
    bool from_caller; /* from the source around an inlined function that hands memory on */
    enum types_confidence confidence;
    enum types_rule rule;
};

#endif
