/* SPDX-License-Identifier: BSD-2-Clause */
/* Carries what the user stored in a session (the tables `named_graph` and `setting`) over to the
 * session that replaces it. The old file may be damaged or come from anywhere: what can be read
 * within bounds (schemas/user_tables.h) is copied, and nothing in it runs. */
#pragma once

#include <stdbool.h>

#include "ingest/write/database.h"
#include "ingest/write/writer.h"

/* The session that is replaced; all zero at first. */
struct writer_user_rows {
    sqlite3 *replaced;
};

/* Copies the rows of the session `target`, if there is one, into `database`, in which a transaction
 * may be open. Until writer_user_rows_release() nobody can change the old session, so that nothing
 * is stored there too late. Calls `options->tell` with the reason if rows are lost. False with the
 * status set if the new session cannot be written. */
bool writer_user_rows_copy(struct writer_user_rows *rows, struct writer_database *database,
                           const char *target, const struct writer_options *options);
void writer_user_rows_release(struct writer_user_rows *rows);
