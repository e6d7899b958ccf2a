/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of one name: which ids share a name, and the id of a name. */
#ifndef MPROF_SESSION_TABLES_TYPE_IDS_H
#define MPROF_SESSION_TABLES_TYPE_IDS_H

#include "session/session.h"

struct type_ids {
    const struct session *session;
    uint32_t *same;    /* by type id: the smallest id of that name */
    uint32_t *by_name; /* the ids from 1 on, ordered by name and id */
    uint32_t count;    /* the largest id + 1 */
};

/* Returns false with `error` set; otherwise the caller calls type_ids_free(). */
bool type_ids_open(struct type_ids *ids, const struct session *session,
                   struct session_error *error);
void type_ids_free(struct type_ids *ids);
/* Returns the smallest id of a name, 0 if there is none. */
uint32_t type_ids_find(const struct type_ids *ids, const char *name);

#endif
