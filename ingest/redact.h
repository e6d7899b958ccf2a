/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session that can be handed to others: the tables without command lines, hosts and the names of
 * folders outside the source tree.
 *
 * Order of calls: redact_new() when all source files are known, rows through redact_sink(),
 * redact_free(). Nothing that is left out reaches the session file, not even for a moment.
 */
#ifndef MPROF_INGEST_REDACT_H
#define MPROF_INGEST_REDACT_H

#include "ingest/session_tables.h"
#include "ingest/table_sink.h"

struct redact;

/*
 * `root` is the folder whose source files keep the folders below it. NULL: the folder that the
 * source files of the executable have in common. Where it lies directly below a home or above, the
 * deepest folder with half of them. NULL where memory is exhausted. Keeps `root`.
 */
struct redact *redact_new(const char *root, const struct session_facts *facts);

/*
 * Hands rows on to `sink`. Private text becomes empty. A path below the root begins at the root,
 * one of a system folder (/usr, /lib, /bin, /etc and the like) stays, and of any other the last
 * component stays; relative names of source files stay. In other text this is done to each absolute
 * path. `sink` and `redact` are used until the last row.
 */
struct table_sink redact_sink(struct redact *redact, struct table_sink sink);

/* Copies `text` as other text is handed on. free() it; NULL where memory is exhausted. `redact` may
 * be NULL: then there is no root. */
char *redact_text(const struct redact *redact, const char *text);

void redact_free(struct redact *redact);

#endif
