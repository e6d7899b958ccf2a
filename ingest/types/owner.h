/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds who owns a block: what a person would name who asks whose memory this is.
 *
 * - The owner is the class of the user's function, the innermost of the user's own code. A lambda
 *   belongs to the class of the function around it. A function outside classes has no owner.
 * - If that function called a member function of a standard container, the owner is the member that
 *   holds the container: CellBuffer::text. The machine code before the call, or the debug
 *   information of the inlined call, tells the address of the container: `this`, or another pointer
 *   to an object, plus the offset of the member. A global variable owns its containers in the same
 *   way. If the address is not known, the owner is the class alone.
 * - If the class that declares the member is a template, it is a container itself:
 *   SplitVector<char>. Then the member that holds that object owns the block, as far out as the
 *   calls show it.
 *
 * The owner is exact if nothing else can have the code: link-time optimization, or a function with
 * several names, makes it inferred. So does a member that was not found although there is a
 * container. */
#pragma once

#include "ingest/types/types.h"

struct types_site;

/* Returns the site of frame `frame`, or NULL. The last two sites are valid. */
typedef const struct types_site *types_owner_open(void *context, size_t frame);

/* Returns types_flow_follow() for the call in frame `frame`. Valid until the next call. NULL:
 * memory is exhausted. */
struct types_flow;
typedef const struct types_flow *types_owner_flow(void *context, size_t frame);

/* Returns types_flow_follow_object() for it, likewise. */
typedef const struct types_flow *types_owner_object_flow(void *context, size_t frame,
                                                         uint8_t number, bool returned);

struct types_owner_question {
    types_owner_open *open;
    types_owner_flow *flow;
    types_owner_object_flow *object_flow;
    void *context;
    size_t count; /* frames of the stack */
    size_t user, level;
    bool whole; /* frame 0 is the innermost of the stack */
};

/* Finds the owner. The caller frees the name. NULL: unknown. *farther: frames outside the user's
 * may tell more. */
char *types_owner_find(const struct types_owner_question *question,
                       enum types_confidence *confidence, bool *farther);
