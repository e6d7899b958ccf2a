/* SPDX-License-Identifier: BSD-2-Clause */
/* The rights of a user's statement: it may read, and nothing else. */
#ifndef MPROF_SESSION_SQL_RIGHTS_H
#define MPROF_SESSION_SQL_RIGHTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "session/data/guard.h"
#include "session/session.h"

/* The rights on one connection. */
struct rights {
    struct session *session; /* a cancel of its questions ends the statement */
    struct guard guard;      /* against a file that somebody else has made */
    char refused[160];       /* the last thing that was refused, ""; for messages */
};

/* Limits a connection to a file of `file_size` bytes. Returns SQLite's code. */
int rights_open(struct rights *rights, sqlite3 *database, struct session *session,
                uint64_t file_size);

#endif
