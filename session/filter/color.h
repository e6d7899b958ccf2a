/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of colours (`color red`) and their numbers in the 256-colour palette of terminals. */
#ifndef MPROF_SESSION_FILTER_COLOR_H
#define MPROF_SESSION_FILTER_COLOR_H

#include <stddef.h>

#define FILTER_COLOR_NAMES                                                                         \
    "red, green, yellow, blue, magenta, cyan, white, gray, orange, pink, brown, purple"

/* Returns the number of a colour name of `length` bytes, -1 if there is no such colour. */
int filter_color_number(const char *name, size_t length);

#endif
