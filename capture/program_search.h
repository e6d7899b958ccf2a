/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a program of a name lies, as execvp looks for it. Nothing is allocated: for children that
 * vfork made, too.
 */
#ifndef MPROF_CAPTURE_PROGRAM_SEARCH_H
#define MPROF_CAPTURE_PROGRAM_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

struct program_search {
    const char *name;
    const char *folders; /* what is left of PATH; NULL: nothing */
};

/* `name` without a slash is looked for in PATH, any other is a path itself. */
void program_search_begin(struct program_search *search, const char *name);

/* The next place, into `size` bytes; what is too long is passed over. False: there is none. */
bool program_search_next(struct program_search *search, char *path, size_t size);

#endif
