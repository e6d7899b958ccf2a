/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/collected.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "earlier_kept_sql.h"

struct reading {
    struct session *session;
    struct collected_arenas *arenas;
};

static bool make_room(struct collected_arenas *arenas, uint32_t count, struct session_error *error)
{
    arenas->other = malloc((size_t)count + 1);
    arenas->kept_before = malloc(((size_t)count + 1) * sizeof(*arenas->kept_before));
    if (!arenas->other || !arenas->kept_before)
        return session_fail_memory(error, "the arenas");
    memset(arenas->other, 1, (size_t)count + 1);
    memset(arenas->kept_before, 0xff, ((size_t)count + 1) * sizeof(*arenas->kept_before));
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
    if (database_is_null(row, 1))
        return true;
    const int64_t kept_ns = database_number(row, 1);
    reading->arenas->kept_before[id] = kept_ns < 0 ? 0 : (uint64_t)kept_ns + 1;
    return true;
}

static bool read_earlier(void *context, const struct database_row *row, struct session_error *error)
{
    struct collected_arenas *arenas = ((struct reading *)context)->arenas;
    if (!array_grow(&arenas->earlier, &arenas->earlier_room, arenas->earlier_count + 1,
                    sizeof(*arenas->earlier)))
        return session_fail_memory(error, "the blocks of an earlier trace");
    arenas->earlier[arenas->earlier_count++] = (uint64_t)database_number(row, 0);
    return true;
}

/* Reads the blocks that a collection before a rotated trace had left. */
static bool read_all_earlier(struct reading *reading, struct session_error *error)
{
    struct database *database = reading->session->database;
    bool has;
    return database_has_table(database, "earlier_block", &has, error) &&
           (!has || database_each(database, earlier_kept_sql, read_earlier, reading, error));
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
        (database_each(session->database,
                       "SELECT id, kept_ns FROM arena WHERE collected > 0 OR kept_ns NOTNULL",
                       read_collected, &reading, error) &&
         (arenas->count == 0 || read_all_earlier(&reading, error))))
        return true;
    collected_arenas_free(arenas);
    return false;
}

size_t collected_arenas_next_earlier(const struct collected_arenas *arenas, uint64_t id)
{
    size_t low = 0, high = arenas->earlier_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (arenas->earlier[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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
    free(arenas->kept_before);
    free(arenas->earlier);
    *arenas = (struct collected_arenas){.count = 0};
}
