/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes over the allocations of a session, chunk by chunk, on all cores.
 *
 * A pass hands each chunk to one of several threads. Each thread has a context of its own, given by
 * the caller, who merges them after the pass. Passes differ in which thread gets which chunk, so a
 * pass may only give what does not depend on it: sums, sets of bits, lists that are sorted
 * afterwards. Then the result is the same with any number of threads.
 *
 * Order of calls: scan_open() when the session is opened, then passes, scan_close(). The threads
 * start at the first pass that needs them and wait between passes. Only one thread at a time may
 * begin a pass, and a pass must not begin another one. scan_cancel(), scan_cancelled() and
 * scan_progress() may be called from any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "session/store/column_store.h"
#include "session/store/row_set.h"

#define SCAN_THREADS_MAX 16
#define COLUMN_BIT(column) (1u << (column))

struct scan;
struct scan_worker;

/* The selected rows of one chunk, with the requested columns. */
struct chunk_rows {
    uint32_t chunk;
    uint64_t first_row;
    const uint64_t *words;
    const uint8_t *colors; /* by row of the chunk, or NULL */
    struct column_view views[COLUMN_TOTAL];
    /* With COLUMN_SIZE, each row's part in sums: see estimate.h. */
    struct column_view bytes, counts;
};

/* Makes session->scan. Returns false with `error` set. */
bool scan_open(struct session *session, struct session_error *error);
/* Ends the threads. */
void scan_close(struct session *session);

/* Returns the most threads that a pass uses: the cores that the process may use, at most
 * SCAN_THREADS_MAX. */
size_t scan_threads(const struct session *session);
/* Sets another number, 1 to SCAN_THREADS_MAX. Call it between passes. */
void scan_use_threads(struct session *session, size_t threads);

/* Calls `visit` for each chunk that has selected rows, with the views of the columns in `columns`
 * (COLUMN_BIT of each). The views are valid until `visit` returns. Uses at most `threads` threads;
 * thread i passes contexts[i]. Returns false with `error` set if a chunk cannot be read or the
 * session's questions are cancelled. */
typedef void scan_visitor(void *context, const struct chunk_rows *rows);
bool scan_each_chunk(struct session *session, const struct row_set *set, unsigned columns,
                     scan_visitor *visit, void **contexts, size_t threads,
                     struct session_error *error);

/* Does the same, but leaves out the chunks for which `wanted` returns false: it may look at what
 * the directory says about a chunk, which costs no read. */
typedef bool scan_wanted(const void *context, const struct column_store *store, uint32_t chunk);
bool scan_wanted_chunks(struct session *session, const struct row_set *set, unsigned columns,
                        scan_wanted *wanted, scan_visitor *visit, void **contexts, size_t threads,
                        struct session_error *error);

/* Does the same, and first reads only the columns in `first`. With these `pick` stores a bit for
 * each row that matters, of those in rows->words, and returns whether there is one. If not, the
 * other columns of the chunk are not read. `visit` gets the picked rows. */
typedef bool scan_picker(const void *context, const struct column_store *store,
                         const struct chunk_rows *rows, uint64_t picked[ROW_SET_WORDS]);
struct scan_picking {
    unsigned first;
    scan_wanted *wanted;
    scan_picker *pick;
};
bool scan_picked_rows(struct session *session, const struct row_set *set, unsigned columns,
                      const struct scan_picking *picking, scan_visitor *visit, void **contexts,
                      size_t threads, struct session_error *error);

/* Does the same for one chunk, within a pass by scan_chunks(). */
bool scan_chunk_rows(struct scan_worker *worker, uint32_t chunk, const struct row_set *set,
                     unsigned columns, const struct scan_picking *picking, scan_visitor *visit,
                     void *context, struct session_error *error);

/* A context for each thread of a pass, zeroed. */
struct scan_contexts {
    struct session *session;
    size_t threads;
    void *each[SCAN_THREADS_MAX];
    size_t sizes[SCAN_THREADS_MAX]; /* private */
};
/* Makes contexts of `size` bytes, as many as there are threads, but at most `most` bytes in all
 * (and one at least). Returns false with `error` set, also if the session's questions are
 * cancelled; otherwise scan_contexts_close() frees them.
 */
bool scan_contexts_open(struct session *session, struct scan_contexts *contexts, size_t size,
                        size_t most, struct session_error *error);
void scan_contexts_close(struct scan_contexts *contexts);
/* Frees the memory that is kept for the next pass. */
void scan_rest(struct session *session);

/* Does the same with one thread and one context, for visitors that need the order of chunks. */
bool scan_in_order(struct session *session, const struct row_set *set, unsigned columns,
                   scan_visitor *visit, void *context, struct session_error *error);

/* Calls `work` for each of the first `chunks` chunks, on at most `threads` threads. It reads
 * columns by scan_column(). Returning false with `error` set ends the pass; the error of the first
 * chunk that failed is reported. */
typedef bool scan_chunk_work(void *context, struct scan_worker *worker, uint32_t chunk,
                             struct session_error *error);
bool scan_chunks(struct session *session, uint32_t chunks, scan_chunk_work *work, void **contexts,
                 size_t threads, struct session_error *error);
/* Does the same on all threads with one context, which they share. */
bool scan_chunks_shared(struct session *session, uint32_t chunks, scan_chunk_work *work,
                        void *context, struct session_error *error);

/* Gives the values of a chunk. They are valid until the same worker gets the same column again.
 * Returns false with `error` set. */
bool scan_column(struct scan_worker *worker, uint32_t chunk, enum column column,
                 struct column_view *view, struct session_error *error);
/* Returns the worker's number, less than scan_threads(). No two that work at once have the same. */
size_t scan_worker_number(const struct scan_worker *worker);
/* Return the worker's own reader (NULL with `error` set if memory is exhausted) and session. */
struct column_reader *scan_reader(struct scan_worker *worker, struct session_error *error);
const struct session *scan_session(const struct scan_worker *worker);
/* Gives the values of a chunk between passes, for single rows. They are valid until the next pass,
 * or until the same column is asked for again. Returns false with `error` set. */
bool scan_look(struct session *session, uint32_t chunk, enum column column,
               struct column_view *view, struct session_error *error);

/* Asks all passes to end early, now and from now on, or no longer. */
void scan_cancel(struct session *session, bool cancel);
/* Makes cancels of `other` hold for this session, too. `other` is closed later. */
void scan_obey(struct session *session, const struct session *other);
/* Lets this thread ask `asked` every 10 ms at most while it answers a question: true is a cancel,
 * as by scan_cancel(). Other threads do not ask. NULL: nobody is asked. Call it between
 * questions. */
void scan_ask(struct session *session, bool (*asked)(void *context), void *context);
/* Returns true to end early. Loops outside a pass, such as sorts, look every 10 ms. */
bool scan_cancelled(const struct session *session);
/* Returns true, or false with `error` set if scan_cancelled(). */
bool scan_go_on(const struct session *session, struct session_error *error);
/* Cancels as scan_cancel() does, but only at the look number `look` from now on; 0: at none.
 * Returns how many looks there were since the call before. For tests. */
uint64_t scan_cancel_at(struct session *session, uint64_t look);
/* Stores the chunks of the present or last pass, and how many of them are done. */
void scan_progress(const struct session *session, uint32_t *done, uint32_t *total);

/* ---- memory for tables and lists of megabytes ---- */

/* Returns `size` bytes that begin a cache line, for free(), or NULL. From 2 MiB on they get huge
 * pages if the system has them: hundreds of page faults less, and no page walk for each access
 * anywhere. */
void *large_memory(size_t size);
/* Likewise, but all bytes are 0, and they begin anywhere. */
void *large_zeroed(size_t size);
