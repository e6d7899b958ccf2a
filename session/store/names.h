/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of ids: meta, modules, source files, functions, threads, types, kinds, arenas, marks
 * and RSS samples of a session, loaded once at open into arrays by id.
 *
 * Ids of these tables are dense (ingest numbers them 1, 2, 3, …). An id far beyond the number of
 * rows is damage, not a reason for a huge array. Unused ids have the name "?". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* ---- string pool ---- */

/* Keeps strings that live as long as the session: copied once, freed together. */

struct string_pool {
    struct string_area *areas;
};

struct database;

struct name_meta {
    const char *key, *value;
};

struct name_function {
    const char *name, *place;
    uint32_t module, file, line;
    uint32_t hash; /* of the name: others are told apart without a look at their text */
};

/* A table of plain names, by id; `count` is the largest id + 1. */
struct name_table {
    const char **name;
    uint32_t count;
};

struct names {
    struct string_pool pool;
    struct name_meta *meta;
    size_t meta_count;
    struct name_table module, file, type, kind, arena, thread, owner;
    const char **thread_label; /* by thread id: the name, "#3 name" if several threads have it */
    struct name_table process; /* last path component of each program */
    uint32_t *process_pid;     /* by process id; process.count of them */
    uint32_t *process_machine; /* by process id, from 1 */
    uint32_t machines;         /* the highest of these, at least 1 */
    uint32_t *thread_process;  /* by thread id, 0: not known; thread.count of them */
    const char **confidence;   /* of types, by type id; type.count of them */
    /* By type id the first type of the same name. A type whose blocks are partly exact and partly
     * inferred has a row for each. */
    uint32_t *type_first;
    /* The same of modules: one of several processes, or that was loaded again, has a row for each.
     */
    uint32_t *module_first;
    struct name_function *function;
    uint32_t function_count;
    struct session_thread *threads;
    size_t thread_count;
    struct session_mark *marks;
    size_t mark_count;
    struct session_rss *rss;
    size_t rss_count;
};

bool names_load(struct names *names, struct database *database, struct session_error *error);
/* Reads the marks and RSS samples again, only those of one process. If `process` is 0, reads the
 * marks of all and no samples. */
bool names_load_samples(struct names *names, struct database *database, uint32_t process,
                        struct session_error *error);
/* Reads the names of owners, which few questions need, into `owner` if they are not there yet. */
bool names_load_owners(struct names *names, struct database *database, struct session_error *error);
void names_free(struct names *names);

/* Returns a copy that lives as long as the session, or NULL with `error` set. */
const char *names_keep(struct names *names, const char *text, struct session_error *error);

/* Returns the name of `id` in a table, "?" if there is none. */
const char *name_table_get(const struct name_table *table, uint64_t id);
/* Returns by id the first id of the same name; free() it. 0 remains itself. NULL with `error` set.
 */
uint32_t *name_table_first(const struct name_table *table, struct session_error *error);

/* Stores the length of an array that the ids of SQL table `table` can index: max(id) + 1, at least
 * 1. Returns false with `error` set if the ids are not dense. */
bool names_id_bound(struct database *database, const char *table, uint32_t *count,
                    struct session_error *error);

/* Returns true if `id` is below `count`. In a damaged file max(id) and the rows may disagree.
 * Returns false with `error` set. */
bool names_id_check(const struct database *database, const char *table, int64_t id, uint32_t count,
                    struct session_error *error);
