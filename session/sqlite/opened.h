/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session that is open as `main`, opened a second time by the session library. It stays open
 * from the first question to the end of the connection, because the kernel drops the locks that a
 * process has on a file when it closes any descriptor of the file. If the file has changed, the
 * next question opens it again; results of earlier ones keep the old state.
 */
#ifndef MPROF_SESSION_SQLITE_OPENED_H
#define MPROF_SESSION_SQLITE_OPENED_H

#include <sys/stat.h>

#include "session/session.h"

/* One state of the file. Each result that was made from it is a user. */
struct opened {
    struct session *session;
    struct stat about;
    unsigned users;
};

/*
 * Opens `path`, unless `*current` has its present state already, and adds a user. NULL or "": the
 * database has no file. Returns NULL with `error` set.
 */
struct opened *opened_take(struct opened **current, const char *path, struct session_error *error);
/* Takes a user away. The last one closes the session. NULL is allowed. */
void opened_drop(struct opened *opened);

#endif
