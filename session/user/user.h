/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user's frame and the owner of each stack, for the other rooms of the session library. With
 * the default settings the frame is what ingest stored, otherwise the frames of all stacks are
 * looked at.
 */
#ifndef MPROF_SESSION_USER_USER_H
#define MPROF_SESSION_USER_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "session/user_code.h"

struct user;

/*
 * Stores the frame ids by stack (stacks.count of them; 0: the stack has no user's frame), which
 * stacks.frame_table describes. The first call after session_open() or session_set_user_code()
 * computes them. They are valid until the next session_set_user_code(). Returns false with `error`
 * set.
 */
bool user_frames(struct session *session, const uint32_t **frames, struct session_error *error);

/* The class of a function's frames in stacks: enum user_code_class, or that of allocators and their
 * wrappers. */
enum { USER_CLASS_WRAPPER = 3 };
/*
 * Stores the classes of all functions by id (names.function_count of them). A frame of
 * USER_CODE_RUNTIME is the user's own only in a stack without one of USER_CODE_OWN. Computed and
 * valid like the frames. Returns false with `error` set.
 */
bool user_classes(struct session *session, const uint8_t **classes, struct session_error *error);

/*
 * Stores the ids of the owners by stack (stacks.count of them; 0: unknown), which names.owner
 * names. Owners of one name have one id. They are valid until session_close(). Returns false with
 * `error` set.
 */
bool user_owners(struct session *session, const uint32_t **owners, struct session_error *error);

void user_free(struct user *user);

#endif
