/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the part go to a draft, with all tables of the whole session. Then mprof-ingest makes
 * the draft's sums, and the draft gets its name.
 *
 * Ids of a session's rows are dense, so the part counts its own from 1. The id of a row is the
 * number of rows of the part up to it.
 */
#include "session/run/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/data/error.h"
#include "session/data/part_file.h"
#include "session/data/session_state.h"
#include "session/run/draft.h"
#include "session/run/rebuild.h"
#include "session/scan/scan.h"

struct part {
    struct part_file *file;
    const struct row_set *set;
    uint64_t *before; /* by chunk: rows of the part before it */
};

static uint64_t rows_up_to(const void *context, uint64_t id)
{
    const struct part *part = context;
    const uint64_t rows = (uint64_t)part->set->chunks * COLUMN_CHUNK_ROWS;
    return row_set_rank(part->set, part->before, id < rows ? id : rows);
}

static bool has_row(const void *context, uint64_t id)
{
    const struct part *part = context;
    const uint64_t row = id - 1;
    return row < (uint64_t)part->set->chunks * COLUMN_CHUNK_ROWS &&
           row_set_has(part->set->words, row);
}

static bool put_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct part *part = context;
    struct column_view views[COLUMN_TOTAL];
    uint64_t values[COLUMN_TOTAL];
    if (row_set_chunk_empty(part->set, chunk))
        return true;
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        if (!scan_column(worker, chunk, (enum column)column, &views[column], error))
            return false;
    }
    ROW_SET_EACH(row_set_chunk(part->set, chunk), row)
    {
        for (int column = 0; column < COLUMN_TOTAL; column++)
            values[column] = column_view_at(&views[column], row);
        if (!part_file_put(part->file, (uint64_t)chunk * COLUMN_CHUNK_ROWS + row + 1, values,
                           error))
            return false;
    }
    return true;
}

static bool fill(struct session *session, struct part *part, const char *graph, const char *draft,
                 struct session_error *error)
{
    const struct part_rows rows = {rows_up_to, has_row, part};
    void *contexts[] = {part};
    part->file = part_file_open(session, &rows, draft, error);
    /* One thread takes the chunks in their order, and stops at the first row that has no room. */
    const bool good = part->file &&
                      scan_chunks(session, part->set->chunks, put_chunk, contexts, 1, error) &&
                      part_file_finish(part->file, graph, error);
    part_file_close(part->file);
    return good;
}

/* Removes what SQLite may have left beside the draft. */
static void remove_journal(const char *draft)
{
    char *journal;
    if (asprintf(&journal, "%s-journal", draft) < 0)
        return;
    unlink(journal);
    free(journal);
}

bool part_write(struct session *session, const struct row_set *set, const char *graph,
                const char *path, struct session_error *error)
{
    struct part part = {.set = set};
    struct draft draft;
    if (session_meta_number(session, "unfinished") != 0)
        return session_fail(error, 0,
                            "%.200s is still being recorded: write a session when it has ended",
                            session_path(session));
    const int descriptor = draft_begin(&draft, path, error);
    if (descriptor >= 0)
        close(descriptor);
    const bool good = descriptor >= 0 && (part.before = row_set_counts(set, error)) &&
                      fill(session, &part, graph, draft.name, error) &&
                      rebuild_run(session, draft.name, error);
    if (!good && draft.made)
        remove_journal(draft.name);
    free(part.before);
    return draft_end(&draft, good, error) && good;
}
