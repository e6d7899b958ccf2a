/*
 * The session file: everything that ingest knows about SQLite.
 *
 * Order of calls: writer_open(), batches through writer_sink() (a second thread writes them),
 * writer_rows_done(), writer_put() for all other tables, writer_commit(), and always
 * writer_close() at last, which removes what was not committed.
 *
 * The session is written to TARGET.part and renamed at the end, so there is never half a session
 * under its name. TARGET.part is locked while it is written: one that was left behind by a killed
 * run is used again, one that another run is writing is left alone.
 */
#ifndef MPROF_INGEST_WRITER_H
#define MPROF_INGEST_WRITER_H

#include <signal.h>

#include "ingest/row_batch.h"
#include "ingest/status.h"

enum writer_index { WRITER_INDEX_NONE, WRITER_INDEX_STACK, WRITER_INDEX_ALL };

struct writer_options {
    bool force; /* replace an existing session */
    enum writer_index index;
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
};

/* Tables but `allocation` and `column_chunk`; columns are those of schemas/session.sql in order. */
enum writer_table {
    WRITER_META,
    WRITER_MODULE,
    WRITER_SOURCE_FILE,
    WRITER_FUNCTION,
    WRITER_FRAME,
    WRITER_STACK,
    WRITER_STACK_FRAME,
    WRITER_STACK_FRAMES, /* WRITER_STACK_FRAMES_AT_ONCE rows of the same table */
    WRITER_THREAD,
    WRITER_ARENA,
    WRITER_MARK,
    WRITER_RSS,
    WRITER_PROBLEM,
    WRITER_TIMELINE,
    WRITER_FUNCTION_TOTAL,
    WRITER_TYPE,
    WRITER_TYPE_TOTAL,
    WRITER_TYPE_MEMBER,
    WRITER_TYPE_CANDIDATE,
    WRITER_SIZE_BIN,
    WRITER_TABLES
};

#define WRITER_STACK_FRAMES_AT_ONCE 8

/* NULL text is NULL, whatever the number says. */
struct writer_value {
    enum { VALUE_NULL, VALUE_NUMBER, VALUE_TEXT } type;
    int64_t number;
    const char *text;
};

static inline struct writer_value value_number(uint64_t number)
{
    return (struct writer_value){VALUE_NUMBER, (int64_t)number, NULL};
}

static inline struct writer_value value_text(const char *text)
{
    return (struct writer_value){text ? VALUE_TEXT : VALUE_NULL, 0, text};
}

static inline struct writer_value value_null(void)
{
    return (struct writer_value){VALUE_NULL, 0, NULL};
}

struct writer;

/*
 * NULL with `status` set. `status` is kept: a failure of the second thread is put there when the
 * sink is next used, or by writer_rows_done().
 */
struct writer *writer_open(const char *target, const struct writer_options *options,
                           struct ingest_status *status);
struct row_sink writer_sink(struct writer *writer);
bool writer_rows_done(struct writer *writer);
bool writer_put(struct writer *writer, enum writer_table table, const struct writer_value *values,
                size_t count);
/*
 * Builds the indexes, tells SQLite's planner how large things are, closes the file and gives it
 * its name.
 */
bool writer_commit(struct writer *writer);
void writer_close(struct writer *writer);

#endif
