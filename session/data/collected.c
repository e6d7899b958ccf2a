/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/collected.h"

#include <stdlib.h>
#include <string.h>

#include "session/code_facts.h"
#include "session/data/error.h"
#include "session/data/session_state.h"

struct reading {
    struct session *session;
    struct collected_arenas *arenas;
};

static bool make_room(struct collected_arenas *arenas, uint32_t count, struct session_error *error)
{
    arenas->other = malloc((size_t)count + 1);
    arenas->kept_ns = malloc(((size_t)count + 1) * sizeof(*arenas->kept_ns));
    if (!arenas->other || !arenas->kept_ns)
        return session_fail_memory(error, "the arenas");
    memset(arenas->other, 1, (size_t)count + 1);
    memset(arenas->kept_ns, 0xff, ((size_t)count + 1) * sizeof(*arenas->kept_ns));
    return true;
}

static bool read_collected(void *context, const struct database_row *row,
                           struct session_error *error)
{
    struct reading *reading = context;
    struct session *session = reading->session;
    const int64_t id = database_number(row, 0);
    const uint32_t count = session->names.arena.count;
    if (!names_id_check(session->database, "arena", id, count, error) ||
        (!reading->arenas->other && !make_room(reading->arenas, count, error)))
        return false;
    reading->arenas->count++;
    reading->arenas->other[id] = 0;
    return database_is_null(row, 1) || database_natural(session->database, row, 1, "table arena",
                                                        &reading->arenas->kept_ns[id], error);
}

bool collected_arenas_read(struct session *session, struct collected_arenas *arenas,
                           struct session_error *error)
{
    struct reading reading = {session, arenas};
    bool has;
    *arenas = (struct collected_arenas){.count = 0};
    if (!database_has_table(session->database, "collection", &has, error))
        return false;
    if (!has ||
        database_each(session->database, "SELECT id, kept_ns FROM arena WHERE collected > 0",
                      read_collected, &reading, error))
        return true;
    collected_arenas_free(arenas);
    return false;
}

bool session_has_collected(struct session *session, bool *any, struct session_error *error)
{
    struct collected_arenas arenas;
    const bool good = collected_arenas_read(session, &arenas, error);
    *any = good && arenas.count > 0;
    if (good)
        collected_arenas_free(&arenas);
    return good;
}

void collected_arenas_free(struct collected_arenas *arenas)
{
    free(arenas->other);
    free(arenas->kept_ns);
    *arenas = (struct collected_arenas){.count = 0};
}
