/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/graphs/storing.h"

#include <stdio.h>

#include "session/data/session_state.h"

enum storing_result storing_put(struct session *session, const struct user_change *change,
                                struct session_storing *storing)
{
    struct session_error why = {.message = ""};
    storing->note[0] = '\0';
    storing->stored = storing->place;
    if (storing->place != SESSION_PLACE_SESSION)
        return STORING_FOLDER;
    if (session) {
        switch (user_rows_change(database_path(session->database), change, &why)) {
        case USER_CHANGED:
            return STORING_DONE;
        case USER_EXISTS:
            return STORING_EXISTS;
        default:
            snprintf(storing->note, sizeof(storing->note), "%s", why.message);
        }
    }
    storing->stored = SESSION_PLACE_FOLDER;
    return STORING_FOLDER;
}
