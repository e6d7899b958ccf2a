/* SPDX-License-Identifier: BSD-2-Clause */
/* A filter's steps that name one thing: a function, allocation, line, entry of a legend. */
#pragma once

#include "session/stacks.h"
#include "tui/view/view.h"

/* Prints the step of an offer. Returns 1, or 0 without memory: then it is none. */
size_t offer_step(struct view_offer *offer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- one function ----------------------------------------------------------------------- */

/* A function's name is the filter, unless other functions have it, too: then the engine lists the
 * stacks with this one, and a filter by the name says that it takes each. */
#define FUNCTION_PARTS (SESSION_AT_USER + 1)

struct function_matchers {
    struct load load;
    const struct function_matchers_data *data; /* NULL: not known yet */
};

/* Asks for the matchers of a function in each part of enum session_function_part, 0: of none. */
void function_matchers_load(struct function_matchers *matchers, struct browse *browse,
                            const uint32_t functions[FUNCTION_PARTS]);
void function_matchers_clear(struct function_matchers *matchers, struct browse *browse);

/* The words before the name in the offers of a part. */
struct function_words {
    const char *one, *each; /* "this function", "each function of this name" */
    bool freed;             /* the frame is of the stack of the free */
};
/* Writes what a function of a part offers: at most two steps, itself before all of its name;
 * nothing while it is not known and others have its name. Returns their number, at most `capacity`.
 */
size_t function_matchers_offer(const struct function_matchers *matchers,
                               const struct session *session, enum session_function_part part,
                               uint32_t function, const struct function_words *words,
                               struct view_offer *out, size_t capacity);

/* ---- one allocation --------------------------------------------------------------------- */

/* Asks for the matchers of a block's functions, and of one that is `anywhere` on its stack. `user`
 * is the function of the user's frame. 0: none. */
void block_matchers_load(struct function_matchers *matchers, struct browse *browse,
                         const struct session_allocation *block, uint32_t user, uint32_t anywhere);
/* Writes a block's steps, first the one that names it. Returns how many, at most `capacity`. */
size_t offer_block(const struct function_matchers *matchers, const struct session *session,
                   const struct session_allocation *block, uint32_t user, struct view_offer *out,
                   size_t capacity);

/* Shows the block in memory: at the present moment if it was live then, otherwise at its birth. */
void block_to_memory(struct browse *browse, const struct session_allocation *block);
/* Shows the moment of its allocation. */
void block_to_timeline(struct browse *browse, const struct session_allocation *block);

/* ---- a line of the source, an entry of a legend ----------------------------------------- */

/* Offers a test for the stacks with a line, or with line 0 of the file, and its call sites. NULL:
 * there is no such test. Returns their number, at most `capacity`. */
size_t offer_source(const char *path, uint32_t line, const char *test, struct view_offer *out,
                    size_t capacity);

/* Narrows the filter to an entry of a legend of `field`, a field of the filter language or the name
 * of a colouring. Says why if there is no such filter. */
void legend_follow(struct browse *browse, const struct session_legend *legend, const char *field,
                   size_t entry);
