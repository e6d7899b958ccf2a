/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps strings that live as long as the session: copied once, freed together. */
#ifndef MPROF_SESSION_DATA_STRING_POOL_H
#define MPROF_SESSION_DATA_STRING_POOL_H

struct string_pool {
    struct string_area *areas;
};

/* Returns a copy of `text` in the pool: "" for NULL, NULL if memory is exhausted. */
const char *string_pool_add(struct string_pool *pool, const char *text);
void string_pool_free(struct string_pool *pool);

#endif
