/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offers filters by one function. Its name is the filter, unless other functions have it, too: then
 * the engine lists the stacks with this one, and a filter by the name says that it takes each.
 */
#ifndef MPROF_TUI_VIEW_COMMON_FUNCTION_TEST_H
#define MPROF_TUI_VIEW_COMMON_FUNCTION_TEST_H

#include "session/stacks.h"
#include "tui/view/view.h"

#define FUNCTION_PARTS (SESSION_AT_USER + 1)

struct function_tests {
    struct load load;
    const struct function_tests_data *data; /* NULL: not known yet */
};

/* Asks for the tests of a function in each part of enum session_function_part, 0: of none. */
void function_tests_load(struct function_tests *tests, struct exploration *exploration,
                         const uint32_t functions[FUNCTION_PARTS]);
void function_tests_clear(struct function_tests *tests, struct exploration *exploration);

/* The words before the name in the offers of a part. */
struct function_words {
    const char *one, *each; /* "this function", "each function of this name" */
    bool freed;             /* the frame is of the stack of the free */
};
/* Writes what a function of a part offers: at most two steps, itself before all of its name;
 * nothing while it is not known and others have its name. Returns their number, at most `capacity`.
 */
size_t function_tests_offer(const struct function_tests *tests, const struct session *session,
                            enum session_function_part part, uint32_t function,
                            const struct function_words *words, struct view_offer *out,
                            size_t capacity);

#endif
