/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user's folder: $XDG_CONFIG_HOME/mprof, or ~/.config/mprof. Folders and files are the user's
 * alone (0700, 0600). No symbolic link in it is followed, and only regular files are read,
 * replaced and removed. A file is written under another name and gets its own when it is whole.
 */
#ifndef MPROF_SESSION_USER_FOLDER_H
#define MPROF_SESSION_USER_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "session/session.h"

/*
 * Opens the folder itself, or `below` in it if that is not NULL. Makes them if `make` is set.
 * Returns a descriptor for close(), or -1: with `make` clear and nothing there, `error` stays
 * empty, otherwise it says why.
 */
int user_folder_open(const char *below, bool make, struct session_error *error);

/* Returns the text of a file, at most `limit` bytes; free() it. NULL: `error` is empty if there is
 * no such file, otherwise it says why. */
char *user_file_read(int folder, const char *name, size_t limit, struct session_error *error);

enum user_file_result { USER_FILE_DONE, USER_FILE_EXISTS, USER_FILE_ABSENT, USER_FILE_FAILED };
/* These set `error` only for USER_FILE_FAILED. */
enum user_file_result user_file_write(int folder, const char *name, const char *text, bool replace,
                                      struct session_error *error);
enum user_file_result user_file_rename(int folder, const char *from, const char *to,
                                       struct session_error *error);
enum user_file_result user_file_remove(int folder, const char *name, struct session_error *error);

/* Visits the names of the files in the folder until visit() returns false. Returns false with
 * `error` set if the folder cannot be read. */
bool user_folder_each(int folder, bool (*visit)(void *context, const char *name), void *context,
                      struct session_error *error);

#endif
