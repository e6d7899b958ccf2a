/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the result of an allocation goes: the machine code behind the call is followed, with the
 * result in rax, and every place of known type that receives it is written down.
 *
 * How: an abstract interpretation of the function. Registers and slots of the stack hold values:
 * the result (plus an offset), a pointer of known type (loaded from a variable), an address of
 * the module, an address on the stack. First the code from the function's beginning to the call
 * is run in the order it stands, forgetting everything where branches meet, to know what the
 * registers hold that survive the call. Then the code behind the call is run along both sides of
 * each branch. All is bounded by the limits in types_flow.c.
 *
 * Compilers make one call of two that stand in the arms of a choice: then one way leads to one
 * class and another way to another. So each piece of evidence says on which ways it was met.
 */
#ifndef MPROF_INGEST_TYPES_FLOW_H
#define MPROF_INGEST_TYPES_FLOW_H

#include "ingest/types_site.h"

enum types_evidence_kind {
    TYPES_EVIDENCE_PLACE,       /* a variable, member or global that receives the result */
    TYPES_EVIDENCE_ARGUMENT,    /* a parameter that the result is passed as */
    TYPES_EVIDENCE_CONSTRUCTOR, /* `this` of a constructor */
    TYPES_EVIDENCE_TABLE,       /* the table of virtual functions that is stored at its start */
    TYPES_EVIDENCE_THROWN,      /* thrown as an exception of the class whose typeinfo is given */
    TYPES_EVIDENCE_OWN          /* the block itself, at stored_at, points to its own inside */
};

struct types_evidence {
    enum types_evidence_kind kind;
    struct types_type type; /* what the place points to; unused where there is a symbol */
    int64_t offset;         /* of the pointer from the block's start */
    bool indexed;           /* a number that is not known was added, too */
    int64_t stored_at;      /* of what points to its own inside */
    const char *symbol;     /* of a table, a typeinfo, or a constructor without debug information */
    uint32_t ends;          /* bit n: it was met on the way to end n of the flow */
};

#define TYPES_EVIDENCE_MAX 32
#define TYPES_ENDS_MAX 32

struct types_flow {
    size_t count;
    size_t end_count; /* of ways through the code that met different evidence */
    int64_t offset;   /* of what the call returned, from the block's start */
    bool returned;    /* the function returns the result */
    bool shared;      /* a constructor was called whose code has several names: types_folded.h */
    int64_t returned_offset;
    struct types_evidence evidence[TYPES_EVIDENCE_MAX]; /* in the order it was met; last */
};

/*
 * Follows the result of the call that returns to the site's return address. rax is `offset` bytes
 * behind the block's start. With `in_memory` the result is not in rax, but where the call's first
 * argument pointed (posix_memalign). False where memory is exhausted.
 */
bool types_flow_follow(const struct types_site *site, int64_t offset, bool in_memory,
                       struct types_flow *flow);

#endif
