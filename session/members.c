/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "session/error.h"
#include "session/model.h"

struct collecting {
    struct session_member *members;
    size_t count, capacity;
};

static bool read_member(void *context, const struct database_row *row, struct session_error *error)
{
    struct collecting *collecting = context;
    (void)error;
    if (collecting->count < collecting->capacity) {
        struct session_member *member = &collecting->members[collecting->count];
        const char *name = database_text(row, 0), *type = database_text(row, 1);
        snprintf(member->name, sizeof(member->name), "%s", !name ? "" : name);
        snprintf(member->type, sizeof(member->type), "%s", !type ? "?" : type);
        member->offset = (uint64_t)database_number(row, 2);
        member->size = (uint64_t)database_number(row, 3);
    }
    collecting->count++;
    return true;
}

static bool read_size(void *context, const struct database_row *row, struct session_error *error)
{
    (void)error;
    *(uint64_t *)context = (uint64_t)database_number(row, 0);
    return true;
}

bool session_type_members(struct session *session, uint32_t type, struct session_member *members,
                          size_t capacity, size_t *count, uint64_t *size,
                          struct session_error *error)
{
    struct collecting collecting = {.members = members, .capacity = capacity};
    char sql[128];
    *size = 0;
    snprintf(sql, sizeof(sql), "SELECT COALESCE(size, 0) FROM type WHERE id = %" PRIu32, type);
    bool good = database_each(session->database, sql, read_size, size, error);
    snprintf(sql, sizeof(sql),
             "SELECT name, type, offset, size FROM type_member WHERE type_id = %" PRIu32
             " ORDER BY position",
             type);
    good = good && database_each(session->database, sql, read_member, &collecting, error);
    *count = collecting.count;
    return good;
}
