/* SPDX-License-Identifier: BSD-2-Clause */
/* The actions of views on one selected allocation. */
#ifndef MPROF_TUI_VIEW_COMMON_BLOCK_H
#define MPROF_TUI_VIEW_COMMON_BLOCK_H

#include "tui/view/common/function_test.h"
#include "tui/view/view.h"

/* Asks for the tests of a block's functions, and of one that is `anywhere` on its stack. `user` is
 * the function of the user's frame. 0: none. */
void block_tests_load(struct function_tests *tests, struct exploration *exploration,
                      const struct session_allocation *block, uint32_t user, uint32_t anywhere);
/* Writes the steps that a block offers, the one that names it first. Returns their number, at most
 * `capacity`. */
size_t offer_block(const struct function_tests *tests, const struct session *session,
                   const struct session_allocation *block, uint32_t user, struct view_offer *out,
                   size_t capacity);

/* Shows the block in memory: at the present moment if it was live then, otherwise at its birth. */
void block_to_memory(struct exploration *exploration, const struct session_allocation *block);
/* Shows the moment of its allocation. */
void block_to_timeline(struct exploration *exploration, const struct session_allocation *block);

#endif
