/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/type_padding.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "type_members_sql.h"

struct reading {
    uint64_t *padding; /* by type */
    uint32_t types;
    /* The type whose members are read: its size, and how much of it is covered up to `reached`. */
    uint32_t type;
    uint64_t size, reached, covered;
};

static void finish_type(struct reading *reading)
{
    if (reading->type < reading->types && reading->covered < reading->size)
        reading->padding[reading->type] = reading->size - reading->covered;
}

/* Takes one member. They come by type and offset; some cover the same bytes (unions, bit fields).
 */
static bool take_member(void *context, const struct database_row *row, struct session_error *error)
{
    struct reading *reading = context;
    const int64_t type = database_number(row, 0), size = database_number(row, 1);
    const int64_t offset = database_number(row, 2), length = database_number(row, 3);
    (void)error;
    if (type <= 0 || type >= reading->types || size <= 0 || offset < 0 || length <= 0 ||
        offset > size || length > size - offset)
        return true;
    if ((uint32_t)type != reading->type) {
        finish_type(reading);
        reading->type = (uint32_t)type;
        reading->size = (uint64_t)size;
        reading->reached = reading->covered = 0;
    }
    const uint64_t end = (uint64_t)(offset + length);
    const uint64_t begin =
        (uint64_t)offset > reading->reached ? (uint64_t)offset : reading->reached;
    if (end > begin) {
        reading->covered += end - begin;
        reading->reached = end;
    }
    return true;
}

uint64_t *type_padding_read(struct session *session, struct session_error *error)
{
    struct reading reading = {.types = session->names.type.count};
    reading.padding = calloc((size_t)reading.types + 1, sizeof(*reading.padding));
    if (!reading.padding) {
        session_fail_memory(error, "the padding of types");
        return NULL;
    }
    if (database_each(session->database, type_members_sql, take_member, &reading, error)) {
        finish_type(&reading);
        return reading.padding;
    }
    free(reading.padding);
    return NULL;
}
