/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the stacks that go through a function which clears: schemas/filter-language.md, "Outlived".
 */
#ifndef MPROF_SESSION_FILTER_CLEARS_H
#define MPROF_SESSION_FILTER_CLEARS_H

#include <stdint.h>

#include "session/session.h"

/* Returns for each stack (stacks.count of them) 1 if a function of the user's own code is on it
 * whose name says that it clears, otherwise 0; free() it. NULL with `error` set. */
uint8_t *clears_find(struct session *session, struct session_error *error);

#endif
