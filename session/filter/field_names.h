/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps the values of a column to names, for fields of allocations that are text. Filters and
 * sorting both work on these. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schemas/column_codec.h"
#include "session/filter/tree.h"

struct session;

/* The way from a column's value to the id of a name, and from there to the name. */
struct field_names {
    enum column column;
    uint32_t count;         /* values of the column: 0 to count - 1 */
    uint32_t *name_id;      /* by value; NULL: the value is the id. Owned. */
    const char **name;      /* by name id, NULL is null; owned (the session owns the texts) */
    const uint32_t *number; /* to compare with numbers, by name id; NULL: the name id itself */
    uint32_t name_count;
};

/* Finds the names of a TYPE_TEXT field, or of thread, process or arena. `frame` is that of
 * FIELD_FRAME. Returns false with `error` set. */
bool field_names_open(struct session *session, enum filter_field field, uint32_t frame,
                      struct field_names *names, struct session_error *error);
void field_names_close(struct field_names *names);

static inline uint32_t field_names_id(const struct field_names *names, uint32_t value)
{
    return names->name_id ? names->name_id[value] : value;
}
