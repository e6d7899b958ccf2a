/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The questions that one SQL query on the session's tables answers: the members of a type, the most
 * frequent mismatch of allocation and free, and the number of problems that are kept.
 */
#include <inttypes.h>
#include <stdio.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "worst_mismatch_sql.h"

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

static bool read_number(void *context, const struct database_row *row, struct session_error *error)
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
    bool good = database_each(session->database, sql, read_number, size, error);
    snprintf(sql, sizeof(sql),
             "SELECT name, type, offset, size FROM type_member WHERE type_id = %" PRIu32
             " ORDER BY position",
             type);
    good = good && database_each(session->database, sql, read_member, &collecting, error);
    *count = collecting.count;
    return good;
}

static bool read_worst(void *context, const struct database_row *row, struct session_error *error)
{
    struct session_mismatch *worst = context;
    const char *kind = database_text(row, 0), *freed_by = database_text(row, 1);
    const char *function = database_text(row, 2);
    (void)error;
    snprintf(worst->kind, sizeof(worst->kind), "%s", kind ? kind : "?");
    snprintf(worst->freed_by, sizeof(worst->freed_by), "%s", freed_by ? freed_by : "?");
    snprintf(worst->function, sizeof(worst->function), "%s", function ? function : "?");
    worst->allocations = (uint64_t)database_number(row, 3);
    return true;
}

bool session_worst_mismatch(const struct session *session, struct session_mismatch *worst,
                            struct session_error *error)
{
    worst->allocations = 0;
    if (session_meta_number(session, "mismatched_frees") <= 0)
        return true;
    return database_each(session->database, worst_mismatch_sql, read_worst, worst, error);
}

bool session_problems_kept(const struct session *session, const char *kind, uint64_t *count,
                           struct session_error *error)
{
    char sql[128];
    *count = 0;
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM problem WHERE kind = '%.40s'", kind);
    return database_each(session->database, sql, read_number, count, error);
}
