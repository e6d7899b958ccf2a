/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's own code in stacks: which frame answers "where in my code?". schemas/code/user_code.h
 * describes the settings; a session opens with the default ones.
 *
 * Settings also say which functions are wrappers of an allocator, beside those that ingest knows by
 * their names. The frames of a wrapper are not call sites, so a new wrapper moves the call sites of
 * its stacks outward, and with them what belongs to a call site: function, caller, file, line and
 * module. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct user_code;

/* Takes a copy of new settings; NULL: the default ones. No other call on the session may run at the
 * same time, and selections made before it must be made again: they keep the call sites they had in
 * part. Returns false with `error` set, and the settings stay as they were. */
bool session_set_user_code(struct session *session, const struct user_code *code,
                           struct session_error *error);
/* Returns the settings in force, never NULL. They are valid until the next session_set_user_code()
 * or session_close(). */
const struct user_code *session_user_code(const struct session *session);

/* Returns true if wrappers of the settings have moved call sites. If so, sums by function that
 * ingest stored are those of other call sites. */
bool session_call_sites_moved(const struct session *session);

/* Stores by function id (*count of them) whether frames of the function are the user's own code:
 * the caller frees it. Returns false with `error` set. */
bool session_own_functions(struct session *session, bool **own, size_t *count,
                           struct session_error *error);

/* Returned for a stack without a frame of the user's own code. */
#define SESSION_NO_FRAME SIZE_MAX

/* Returns the index of the user's frame among the frames of session_stack(), SESSION_NO_FRAME if
 * there is none or it cannot be read. */
size_t session_stack_user(struct session *session, uint32_t stack);
