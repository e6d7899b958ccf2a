/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of colours: `color red`. Numbers are those of the 256-colour palette of terminals. */
#ifndef MPROF_SESSION_FILTER_COLOR_H
#define MPROF_SESSION_FILTER_COLOR_H

#include <stddef.h>

#define FILTER_COLOR_NAMES                                                                         \
    "red, green, yellow, blue, magenta, cyan, white, gray, orange, pink, brown, purple"

/* The number of a colour name of `length` bytes, -1 where there is no such colour. */
int filter_color_number(const char *name, size_t length);

#endif
