/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/query/other_sessions.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"

struct other_session {
    char *path;
    struct session *session;
    struct other_session *next;
};

struct session *other_session_open(void *context, const char *path, struct session_error *error)
{
    struct session *session = context;
    for (struct other_session *other = session->others; other; other = other->next) {
        if (strcmp(other->path, path) == 0)
            return other->session;
    }
    struct other_session *other = calloc(1, sizeof(*other));
    char *kept = strdup(path);
    if (!other || !kept) {
        free(other);
        free(kept);
        session_fail_memory(error, "another session");
        return NULL;
    }
    *other = (struct other_session){.path = kept, .session = session_open(path, error)};
    if (!other->session) {
        free(kept);
        free(other);
        return NULL;
    }
    session_obey(other->session, session);
    other->next = session->others;
    session->others = other;
    return other->session;
}

void other_sessions_close(struct session *session)
{
    while (session->others) {
        struct other_session *other = session->others;
        session->others = other->next;
        session_close(other->session);
        free(other->path);
        free(other);
    }
}
