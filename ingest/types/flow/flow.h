/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the result of an allocation through the machine code after the call, where it is in rax,
 * and notes every place of known type that receives it.
 *
 * This is an abstract interpretation of the function. Registers and stack slots hold values: the
 * result (plus an offset), a pointer of known type (loaded from a variable), an address of the
 * module, or an address on the stack. First the function is run until it is known what registers
 * and slots hold at the places to which it jumps: what all ways there agree on, but for those of a
 * table of jumps, which are not found. The code from the last of these places to the call
 * tells what survives the call. Then the code after the call is run along both sides of each
 * branch. Limits bound all this.
 *
 * Compilers merge two calls in the arms of a branch into one. Then one path through the code
 * leads to one class and another path to another class. So each piece of evidence tells on which
 * paths it was met. */
#pragma once

#include "ingest/types/dwarf/site.h"
#include "ingest/types/flow/flow_state.h"

enum types_evidence_kind {
    TYPES_EVIDENCE_PLACE,       /* a variable, member or global that receives the result */
    TYPES_EVIDENCE_ARGUMENT,    /* a parameter that gets the result */
    TYPES_EVIDENCE_CONSTRUCTOR, /* `this` of a constructor */
    TYPES_EVIDENCE_TABLE,       /* the table of virtual functions stored at its start */
    TYPES_EVIDENCE_THROWN,      /* thrown as an exception of the class of this typeinfo */
    TYPES_EVIDENCE_HANDED, /* it, or the object that holds it, is handed to the one at `stored` */
    TYPES_EVIDENCE_OWN     /* the block itself, at stored_at, points into itself */
};

struct types_evidence {
    enum types_evidence_kind kind;
    struct types_type type; /* the type that the place points to; unused with a symbol */
    int64_t offset;         /* of the pointer from the start of the block */
    bool indexed;           /* an unknown number was also added */
    int64_t stored_at;      /* offset of a pointer that points into its own block */
    /* The place in memory that the result was stored into first: inside an object, or an address of
     * the module. TYPES_VALUE_UNKNOWN: into none. */
    enum types_value_kind stored;
    struct types_type holder; /* the object's type, with TYPES_VALUE_POINTER */
    int64_t stored_into;      /* the offset in it, or the address */
    bool stored_indexed;      /* an index was added to the place */
    bool stored_twice;        /* and into another such place */
    const char *symbol; /* of a table, a typeinfo, or a constructor without debug information */
    uint32_t path_ends; /* bit n: it was met on the path to end n of the flow */
};

#define TYPES_EVIDENCE_MAX 32
#define TYPES_EVIDENCE_WHOLE 8 /* of these, kept for what is about the whole block */
#define TYPES_PATH_ENDS_MAX 32

struct types_flow {
    size_t count;
    size_t path_end_count; /* number of paths through the code with different evidence */
    int64_t offset;        /* of the value that the call returned, from the start of the block */
    bool returned;         /* the function returns the result */
    bool shared; /* a constructor was called whose code has several names (types/flow/folded.h) */
    int64_t returned_offset;
    bool size_varies; /* the first argument of the call was computed: it cannot be a constant */
    struct types_evidence evidence[TYPES_EVIDENCE_MAX]; /* in the order in which it was met; last */
};

/* Follows the result of the call that returns to the site's return address. rax is `offset` bytes
 * after the start of the block. With `in_memory` the result is not in rax but in the memory that
 * the call's first argument pointed to (posix_memalign). Returns false if memory is exhausted. */
bool types_flow_follow(const struct types_site *site, int64_t offset, bool in_memory,
                       struct types_flow *flow);

/* Follows an object on the stack that holds the block after the call: its address was in register
 * `number`. Notes into which other objects it is moved: the arguments of functions that take a "T
 * &&", and of swap. With `returned`, the call returns its address. False if memory is exhausted. */
bool types_flow_follow_object(const struct types_site *site, uint8_t number, bool returned,
                              struct types_flow *flow);

/* Returns true if the function that the site calls jumps to another one at its end, without
 * branches before, and the first argument that it hands on is not a constant. */
bool types_flow_jump_varies(const struct types_site *site, uint64_t function);

/* Looks at the registers and stack slots just before the site's call. types_flow_state_register()
 * and its kin (flow_state.h) read them, at the address site->return_address - 1. */
typedef void types_flow_look(void *context, const struct types_flow_state *state,
                             const struct types_place_types *places);
/* Calls `look`, unless the code is not known. Returns false if memory is exhausted. */
bool types_flow_before_call(const struct types_site *site, types_flow_look *look, void *context);
