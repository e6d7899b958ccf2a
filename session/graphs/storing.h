/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores changes in the session, or says that the user's folder must take them. */
#ifndef MPROF_SESSION_GRAPHS_STORING_H
#define MPROF_SESSION_GRAPHS_STORING_H

#include "session/data/user_rows.h"
#include "session/graphs.h"

enum storing_result {
    STORING_DONE,   /* in the session */
    STORING_FOLDER, /* the folder is to be used; a note may say why */
    STORING_EXISTS,
};

/* Puts a row into the session if `storing` asks for that. */
enum storing_result storing_put(struct session *session, const struct user_change *change,
                                struct session_storing *storing);

#endif
