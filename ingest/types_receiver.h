/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variable or member that the source statement puts the result of its call into, and what it
 * is declared to point to: "table->items = (struct item *)allocate(size)".
 */
#ifndef MPROF_INGEST_TYPES_RECEIVER_H
#define MPROF_INGEST_TYPES_RECEIVER_H

#include "ingest/types_site.h"

/*
 * The type that the receiver of the one call in `text` points to. `callee` is the name of the
 * function that allocates, NULL where it is not known; the statement may call others beside it, and
 * a macro of another name only alone. False where there is no receiver, or not one.
 */
bool types_receiver(const struct types_site *site, const char *text, const char *callee,
                    struct types_type *pointee);

/* True where that call asks for a number of bytes: "65536", "4 * PAGE", but no sizeof or variable.
 */
bool types_receiver_fixed_size(const char *text, const char *callee);

#endif
