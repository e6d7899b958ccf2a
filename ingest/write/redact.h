/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a session that can be given to other people: it changes the tables so that they have no
 * command lines, hosts and names of folders outside the source tree.
 *
 * Order of calls: redact_new() when all source files are known, rows through redact_sink(),
 * redact_free(). Text that is left out is never in the session file, not even for a moment. */
#pragma once

#include "ingest/write/session_tables.h"
#include "ingest/write/table_sink.h"

struct redact;

/* Begins. Source files below the folder `root` keep the names of folders below it. With NULL the
 * root is the common folder of the executable's source files, or if that is a home or a folder
 * above one, the deepest folder that holds half of them. Copies `root`. NULL if memory is
 * exhausted. */
struct redact *redact_new(const char *root, const struct session_facts *facts);

/* Passes rows on to `sink`. Private text becomes empty. A path below the root begins at the root, a
 * path in a system folder (/usr, /lib, /bin, /etc and similar) stays, and of any other path the
 * last component stays. Relative names of source files stay. In other text each absolute path is
 * changed in this way. `sink` and `redact` are used until the last row. */
struct table_sink redact_sink(struct redact *redact, struct table_sink sink);

/* Copies `text`, changed as redact_sink() changes other text; free() it. NULL if memory is
 * exhausted. `redact` may be NULL: then there is no root. */
char *redact_text(const struct redact *redact, const char *text);

void redact_free(struct redact *redact);
