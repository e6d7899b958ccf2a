/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the function that a call finally reaches. A function whose last act is a call often jumps
 * there and leaves no frame.
 */
#ifndef MPROF_INGEST_TYPES_FLOW_TAIL_CALLS_H
#define MPROF_INGEST_TYPES_FLOW_TAIL_CALLS_H

#include "ingest/types/dwarf/site.h"

/*
 * Returns form_of() of the linkage name of the function that is called before the site's return
 * address. If that is 0, returns form_of() of the only function to which that one can have jumped,
 * through up to three functions of the module. Returns 0 if it may be another function or is not
 * known.
 */
unsigned types_call_form(const struct types_site *site, unsigned (*form_of)(const char *linkage));

#endif
