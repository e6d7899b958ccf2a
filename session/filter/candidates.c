/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/candidates.h"

#include <stdlib.h>

#include "schemas/array.h"
#include "session/data/database.h"
#include "session/data/error.h"

struct place {
    uint64_t stack, size;
};

struct candidates {
    struct place *places; /* by stack and size */
    size_t count, capacity;
};

static bool add_place(void *context, const struct database_row *row, struct session_error *error)
{
    struct candidates *candidates = context;
    if (!array_grow(&candidates->places, &candidates->capacity, candidates->count + 1,
                    sizeof(*candidates->places)))
        return session_fail_memory(error, "the candidates of types");
    candidates->places[candidates->count++] =
        (struct place){(uint64_t)database_number(row, 0), (uint64_t)database_number(row, 1)};
    return true;
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}

struct candidates *candidates_load(struct database *database, struct session_error *error)
{
    struct candidates *candidates = calloc(1, sizeof(*candidates));
    if (!candidates) {
        session_fail_memory(error, "the candidates of types");
        return NULL;
    }
    if (!database_each(database, "SELECT DISTINCT stack_id, size FROM type_candidate", add_place,
                       candidates, error)) {
        candidates_free(candidates);
        return NULL;
    }
    if (candidates->count > 0)
        qsort(candidates->places, candidates->count, sizeof(*candidates->places), compare_places);
    return candidates;
}

void candidates_free(struct candidates *candidates)
{
    if (!candidates)
        return;
    free(candidates->places);
    free(candidates);
}

bool candidates_have(const struct candidates *candidates, uint64_t stack, uint64_t size)
{
    const struct place place = {stack, size};
    return candidates->count > 0 &&
           bsearch(&place, candidates->places, candidates->count, sizeof(place), compare_places);
}
