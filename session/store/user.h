/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's frame and the owner of each stack, for the other rooms of the session library. With
 * the default settings the frame is what ingest stored, otherwise the frames of all stacks are
 * looked at. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "session/user_code.h"

/* ---- user rows ---- */

/* Reads and changes the tables of a session that belong to its user: `named_graph` and `setting`.
 * Each call opens its own connection and closes it, so any thread may call. Triggers and views of
 * the file are off, and the work for one call is bounded: the file may come from anywhere. */

enum user_table { USER_GRAPH, USER_SETTING };

/* Handles one row: a graph's name and text, or a setting's key and value. Returning false stops. */
typedef bool user_row_handler(void *context, const char *key, const char *value);

/* Reads the rows of one table by key, at most `rows` of them. Skips rows that are not text or are
 * longer than `length` bytes. A session without the table has no rows. Returns false with `error`
 * set if the file cannot be read. */
bool user_rows_read(const char *path, enum user_table table, size_t rows, size_t length,
                    user_row_handler *handler, void *context, struct session_error *error);

enum user_change_kind { USER_PUT, USER_RENAME, USER_DELETE };
struct user_change {
    enum user_change_kind kind;
    enum user_table table;
    bool replace;            /* PUT of a graph: the one that is there */
    const char *key, *value; /* RENAME: `value` is the new key */
};
enum user_change_result {
    USER_CHANGED,
    USER_EXISTS,  /* PUT, RENAME: such a row is there */
    USER_ABSENT,  /* RENAME, DELETE: no such row is there */
    USER_REFUSED, /* the session cannot be written; `error` says why */
};
enum user_change_result user_rows_change(const char *path, const struct user_change *change,
                                         struct session_error *error);

struct user;

/* Stores the frame ids by stack (stacks.count of them; 0: the stack has no user's frame), which
 * stacks.frame_table describes. The first call after session_open() or session_set_user_code()
 * computes them. They are valid until the next session_set_user_code(). False with `error` set. */
bool user_frames(struct session *session, const uint32_t **frames, struct session_error *error);

/* The class of a function's frames: enum user_code_class, or allocators and their wrappers. */
enum { USER_CLASS_WRAPPER = 3 };
/* Stores the classes of all functions by id (names.function_count of them). A frame of
 * USER_CODE_RUNTIME is the user's own only in a stack without one of USER_CODE_OWN. Computed and
 * valid like the frames. Returns false with `error` set. */
bool user_classes(struct session *session, const uint8_t **classes, struct session_error *error);

/* Stores the ids of the owners by stack (stacks.count of them; 0: unknown), which names.owner
 * names. Owners of one name have one id. Valid until session_close(). False with `error` set. */
bool user_owners(struct session *session, const uint32_t **owners, struct session_error *error);

/* Returns for each stack (stacks.count of them) 1 if a function of the user's own code is on it
 * whose name says that it clears (schemas/filter-language.md, "Outlived"), otherwise 0; free() it.
 * NULL with `error` set. */
uint8_t *user_clears(struct session *session, struct session_error *error);

void user_free(struct user *user);
