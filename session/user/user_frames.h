/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads users' frames and owners, and computes users' frames and call sites from all frames;
 * private to this room. */
#ifndef MPROF_SESSION_USER_USER_FRAMES_H
#define MPROF_SESSION_USER_USER_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "schemas/code/user_code.h"
#include "session/data/session_state.h"

/* Reads the user's frames that ingest stored into an array by stack. */
bool user_frames_stored(struct session *session, uint32_t *frames, struct session_error *error);

/* Reads the owners that ingest stored into an array by stack. The first of several owners with one
 * name counts. */
bool user_owners_stored(struct session *session, uint32_t *owners, struct session_error *error);

/* Returns true if ingest stored them by the built-in list of this program. */
bool user_frames_are_stored(const struct session *session);

/* Returns the classes of all functions by id, as user.h describes them; free() them. NULL with
 * `error` set. */
uint8_t *user_classes_compute(struct session *session, const struct user_code *code,
                              struct session_error *error);

/* Computes the user's frame of each stack by the settings. */
bool user_frames_compute(struct session *session, const struct user_code *code, uint32_t *frames,
                         struct session_error *error);

/*
 * Computes call sites from those that ingest stored: a frame of a wrapper or an allocator is not a
 * call site. If all outer frames are such, the outermost one is the call site, as for ingest.
 */
bool user_call_sites_compute(struct session *session, const struct user_code *code,
                             const uint32_t *stored, uint32_t *call_sites,
                             struct session_error *error);

#endif
