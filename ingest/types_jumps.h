/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a call comes to in the end: a function whose last act is a call often jumps there, and
 * leaves no frame.
 */
#ifndef MPROF_INGEST_TYPES_JUMPS_H
#define MPROF_INGEST_TYPES_JUMPS_H

#include "ingest/types_site.h"

/*
 * `form_of` tells for a linkage name what is asked about it, 0: nothing. Returns that of the
 * function that is called before the site's return address, or else the one that it can only have
 * jumped to, through up to three functions of the module; 0 where it may be another, or is not
 * known.
 */
unsigned types_call_form(const struct types_site *site, unsigned (*form_of)(const char *linkage));

#endif
