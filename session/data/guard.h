/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits what a session from someone else can make SQLite do. A file brings its own schema, and
 * could replace a table by a view, by a virtual table or by one with computed columns, whose rows
 * cost any amount of work. So tables must be tables that store what they have, the views of the
 * schema have names that begin with "v_", and a statement ends with an error when it has done more
 * work than rows of the file explain.
 */
#ifndef MPROF_SESSION_DATA_GUARD_H
#define MPROF_SESSION_DATA_GUARD_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard {
    atomic_uint_fast64_t steps; /* of the present statement, in GUARD_STEP instructions */
    uint64_t steps_max;
    char refused[64];        /* the name that is not a table; "": all are */
    char virtual_names[256]; /* each between two slashes; too many: "*" */
    char view_names[4096];   /* the same, of views */
    bool (*stop)(const void *context);
    const void *context;
};

/* Begins, for a file of so many bytes. `guard` must live as long as the connection. Returns
 * SQLite's code. */
int guard_open(struct guard *guard, sqlite3 *database, uint64_t file_size);
/* Returns true if a table of the file is virtual, or has computed columns. */
bool guard_is_virtual(const struct guard *guard, const char *table);
/* Begins a statement. */
void guard_begin(struct guard *guard);
/* Returns why SQLite refused or interrupted the statement, NULL if the guard did not cause it. */
const char *guard_reason(const struct guard *guard, char *text, size_t size);

#endif
