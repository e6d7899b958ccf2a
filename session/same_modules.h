/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules of two sessions that are one program or library under two names, such as app-1.0 and
 * app-1.1. A comparison of the sessions takes the names of one of them for both.
 *
 * Two modules are the same if they have one build-id, if they have one name, or if their names
 * differ in their versions alone and no other module of either session has such a name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/session.h"

struct same_modules;

/* Finds what the modules of `from` are called in `to`. NULL with `error` set if a session cannot be
 * read or memory is exhausted. The names live as long as both sessions. */
struct same_modules *same_modules_find(struct session *from, struct session *to,
                                       struct session_error *error);
void same_modules_free(struct same_modules *same);

/* A module that has another name in `to`. */
struct same_module {
    const char *from, *to;
    bool by_build; /* by its build-id; otherwise by its name without the version */
};
/* Stores them, which belong to `same`. Returns their number. */
size_t same_modules_list(const struct same_modules *same, const struct same_module **list);
/* Writes "app-1.0 is compared as app-1.1, by its name without the version". Returns `out`. */
const char *same_module_text(const struct same_module *module, char *out, size_t size);

/* Returns a copy of a name of `from` as `to` calls it, malloc()ed: mostly the same. `field` is what
 * has it, as in the filter language: a module; a process or its first thread, which has the name of
 * the program up to 15 bytes; a function without a symbol, such as "app-1.0+0x1139", if the build
 * is the same. NULL: memory is exhausted. */
char *same_modules_name(const struct same_modules *same, const char *field, const char *name);
