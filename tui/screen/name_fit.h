/* SPDX-License-Identifier: BSD-2-Clause */
/* Fits the short names of functions and types (schemas/code/short_name.h) into columns. */
#pragma once

#include "schemas/code/short_name.h"

/* Writes the short form of a name in at most `width` columns. The end of the name, which is the
 * function, stays as long as it fits. A name that is too long loses, in this order, until it fits:
 * the namespaces, the ends of the arguments of its class, these arguments and those of the
 * function, the end of its class, its class. A function that is still too long loses its middle.
 * Returns `out`. */
char *short_name_fit(char *out, size_t size, const char *name, int width);
/* Does the same for a name that is in its short form. */
char *short_name_fit_again(char *out, size_t size, const char *name, int width);
