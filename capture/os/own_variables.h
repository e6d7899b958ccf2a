/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder's own variables: MPROF_OUTPUT, MPROF_OPTIONS, and its libraries in LD_PRELOAD.
 *
 * The program must not see them, or it would do other work than alone. So the recorder points
 * `environ` at a copy without them. The array that the kernel made, and /proc/self/environ, stay as
 * they are: a runtime that reads its environment from there (Go, Free Pascal) also executes by its
 * own system calls, which nothing else would give the variables to. exec_environment.h puts them
 * back. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* The variables as whole entries "NAME=value". NULL: it was not there. */
struct own_variables {
    const char *preload; /* the recorder's own part */
    const char *output, *options;
};
extern struct own_variables own_variables __attribute__((visibility("hidden")));

/* Takes the variables out of `environ`. Call it when recording starts and again in the constructor:
 * the C library may set `environ` in between. Without memory, or in a program that runs with other
 * rights than its caller, it takes nothing. */
#ifdef MPROF_STATIC
/* A static program's calls of exec go to the C library's own: there the variables stay. */
static inline void own_variables_take(void)
{
}
static inline const char *own_variables_output(void)
{
    return secure_getenv("MPROF_OUTPUT");
}
static inline const char *own_variables_options(void)
{
    return secure_getenv("MPROF_OPTIONS");
}
#else
void own_variables_take(void);

/* Return the value of MPROF_OUTPUT and MPROF_OPTIONS, or NULL. They stay. */
const char *own_variables_output(void);
const char *own_variables_options(void);
#endif

#define OWN_PRELOAD "LD_PRELOAD="
#define OWN_OUTPUT "MPROF_OUTPUT="
#define OWN_OPTIONS "MPROF_OPTIONS="
#define OWN_LIBRARY "libmprof.so"
#define OWN_SIZED_LIBRARY "libmprof_sized.so"

/* Returns the value if the entry is that of the variable ("NAME="), or NULL. */
const char *own_variables_value(const char *entry, const char *name);

/* LD_PRELOAD is a list, which the loader splits at spaces and colons. These functions know a part
 * by the name of its file, without the folder; the name NULL means any library of the recorder. */

/* Returns the next part that `is` (or is not) of that name, and moves `*list` past it. NULL: there
 * is none. */
const char *own_variables_next(const char **list, const char *name, bool is, size_t *length);
/* Returns true if there is a part of that name. */
bool own_variables_has(const char *list, const char *name);
/* Writes the parts that are (or are not) of that name into as many bytes as the list has with its
 * terminator. `to` may be the list. Behind a part comes the separator that it had. Returns true if
 * there is any part, even if that is empty. */
bool own_variables_select(const char *list, const char *name, bool is, char *to);
