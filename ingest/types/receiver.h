/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the variable or member to which the source statement assigns the result of its call, and
 * the type to which it is declared to point: "table->items = (struct item *)allocate(size)".
 */
#ifndef MPROF_INGEST_TYPES_RECEIVER_H
#define MPROF_INGEST_TYPES_RECEIVER_H

#include "ingest/types/site.h"

/*
 * Finds the type that the receiver of the one call in `text` points to. `callee` is the name of the
 * allocating function, or NULL if it is not known. If exactly one call has that name, the statement
 * may contain other calls. If none has it, as with a macro, there must be only one call. Returns
 * false if there is no receiver, or several.
 */
bool types_receiver(const struct types_site *site, const char *text, const char *callee,
                    struct types_type *pointee);

/* True if that call asks for a number of bytes: "65536", "4 * PAGE", but no sizeof or variable. */
bool types_receiver_fixed_size(const char *text, const char *callee);

#endif
