/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the file of a program by its name, as execvp does. It allocates nothing, so children of
 * vfork can use it too.
 */
#ifndef MPROF_CAPTURE_OS_PROGRAM_SEARCH_H
#define MPROF_CAPTURE_OS_PROGRAM_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

struct program_search {
    const char *name;
    const char *folders; /* the rest of PATH; NULL at the end */
};

/* Begins a search. A `name` without a slash is searched for in PATH; any other is itself a path. */
void program_search_begin(struct program_search *search, const char *name);

/* Writes the next candidate into `size` bytes and skips those that do not fit. Returns false if
 * there is none. */
bool program_search_next(struct program_search *search, char *path, size_t size);

#endif
