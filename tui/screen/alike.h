/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells names apart that look alike on the screen: functions with one short name, names that differ
 * only where they are cut, and functions of one name in several files or modules. */
#pragma once

#include <stddef.h>

#include "tui/screen/cells.h"

#define ALIKE_MOST 256 /* names that are looked at */

/* A name on the screen. */
struct alike_field {
    int x, y, width; /* in the area */
    size_t row;      /* for name() */
    const char *end; /* what stays after the name; NULL: nothing */
};

#define ALIKE_ID_SIZE 24

/* The name of a row, valid until the next one is asked for. */
struct alike_name {
    const char *name;
    const char *place, *module; /* of a function: "file.c:12", "libc.so.6". NULL: none, not known */
    char id[ALIKE_ID_SIZE];     /* "function 12"; "": none */
};

/* Writes what tells a name from the others that are equal to it: its place, its module if it has
 * the place of another one, its id if it has both of another one, as in " (file.c:12)". Writes ""
 * if there are none. Returns `out`. */
#define ALIKE_DIFFERENCE_SIZE 600
char *alike_difference(const struct alike_name *names, size_t count, size_t at,
                       char out[ALIKE_DIFFERENCE_SIZE]);

/* Writes the names again that look like another one: with their parameters or, if they still look
 * alike, from where they differ. A function that has the whole name of another
 * one gets what alike_difference() writes after it. */
void alike_rewrite(const struct area *area, const struct alike_field *fields, size_t count,
                   struct alike_name (*name)(void *context, size_t row), void *context);
