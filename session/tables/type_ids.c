/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/tables/type_ids.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"

static int compare(const void *left, const void *right, void *session)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int order = strcmp(session_type_name(session, a), session_type_name(session, b));
    return order != 0 ? order : a < b ? -1 : a > b;
}

bool type_ids_open(struct type_ids *ids, const struct session *session, struct session_error *error)
{
    const uint32_t count = session->names.type.count;
    *ids = (struct type_ids){.session = session, .count = count};
    ids->same = calloc((size_t)count + 1, sizeof(*ids->same));
    ids->by_name = calloc((size_t)count + 1, sizeof(*ids->by_name));
    if (!ids->same || !ids->by_name) {
        type_ids_free(ids);
        return session_fail_memory(error, "the types");
    }
    for (uint32_t id = 1; id < count; id++)
        ids->by_name[id - 1] = id;
    if (count > 1)
        qsort_r(ids->by_name, count - 1, sizeof(*ids->by_name), compare, (void *)session);
    for (uint32_t i = 0, first = 0; i + 1 < count; i++) {
        const uint32_t id = ids->by_name[i];
        if (i == 0 ||
            strcmp(session_type_name(session, first), session_type_name(session, id)) != 0)
            first = id;
        ids->same[id] = first;
    }
    return true;
}

void type_ids_free(struct type_ids *ids)
{
    free(ids->same);
    free(ids->by_name);
    *ids = (struct type_ids){.count = 0};
}

uint32_t type_ids_find(const struct type_ids *ids, const char *name)
{
    uint32_t from = 0, to = ids->count > 0 ? ids->count - 1 : 0;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (strcmp(session_type_name(ids->session, ids->by_name[middle]), name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return ids->count > 0 && from < ids->count - 1 &&
                   strcmp(session_type_name(ids->session, ids->by_name[from]), name) == 0
               ? ids->by_name[from]
               : 0;
}
