/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/scan.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "schemas/thread_start.h"
#include "session/store/error.h"
#include "session/store/estimate.h"
#include "session/store/session_state.h"

/* Least time between two questions of scan_ask(). */
enum { ASK_MS = 10 };

struct scan_worker {
    struct session *session;
    struct scan *scan;
    size_t index;
    pthread_t thread;                /* not of worker 0, which runs in the caller */
    struct column_reader *reader;    /* NULL: it has not read yet */
    struct estimate_rows *estimated; /* NULL: not needed yet */
};

/* The present work of the threads. They read it after they have seen a new `round`. */
struct pass {
    scan_chunk_work *work;
    void **contexts;
    size_t threads; /* those that take part */
    uint32_t chunks;
    atomic_uint next; /* chunk */
    atomic_bool failed;
    uint32_t failed_chunk; /* the first one; `error` is its error */
    struct session_error error;
};

struct scan {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    size_t threads, started; /* started: worker 0 counts */
    size_t busy;             /* threads that have not ended the round */
    uint64_t round;
    bool closing;
    struct pass pass;
    struct scan_worker workers[SCAN_THREADS_MAX];
    atomic_bool cancelled;
    struct scan *obeyed; /* whose cancels count: this one, or that of another session */
    /* For scan_ask(). */
    bool (*asked)(void *context); /* NULL: nobody */
    void *asked_context;
    pthread_t asker;
    uint64_t asked_ms; /* when it asked last */
    atomic_uint done, total;
    /* Belongs to scan_cancel_at(). */
    _Atomic uint64_t looks, last_look;
};

static size_t core_count(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
        return 1;
    const int count = CPU_COUNT(&cores);
    return count < 1 ? 1 : count > SCAN_THREADS_MAX ? SCAN_THREADS_MAX : (size_t)count;
}

bool scan_open(struct session *session, struct session_error *error)
{
    struct scan *scan = calloc(1, sizeof(*scan));
    if (!scan)
        return session_fail_memory(error, "the passes over a session");
    pthread_mutex_init(&scan->lock, NULL);
    pthread_cond_init(&scan->begin, NULL);
    pthread_cond_init(&scan->end, NULL);
    scan->threads = core_count();
    scan->started = 1;
    scan->obeyed = scan;
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++) {
        scan->workers[i].session = session;
        scan->workers[i].scan = scan;
        scan->workers[i].index = i;
    }
    session->scan = scan;
    return true;
}

void scan_close(struct session *session)
{
    struct scan *scan = session->scan;
    if (!scan)
        return;
    scan_rest(session);
    pthread_mutex_lock(&scan->lock);
    scan->closing = true;
    pthread_cond_broadcast(&scan->begin);
    pthread_mutex_unlock(&scan->lock);
    for (size_t i = 1; i < scan->started; i++)
        pthread_join(scan->workers[i].thread, NULL);
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++) {
        column_reader_free(scan->workers[i].reader);
        free(scan->workers[i].estimated);
    }
    pthread_mutex_destroy(&scan->lock);
    pthread_cond_destroy(&scan->begin);
    pthread_cond_destroy(&scan->end);
    free(scan);
    session->scan = NULL;
}

size_t scan_threads(const struct session *session)
{
    return session->scan->threads;
}

void scan_use_threads(struct session *session, size_t threads)
{
    session->scan->threads = threads < 1                  ? 1
                             : threads > SCAN_THREADS_MAX ? SCAN_THREADS_MAX
                                                          : threads;
}

void scan_cancel(struct session *session, bool cancel)
{
    atomic_store(&session->scan->cancelled, cancel);
}

void scan_obey(struct session *session, const struct session *other)
{
    session->scan->obeyed = other->scan->obeyed;
}

uint64_t scan_cancel_at(struct session *session, uint64_t look)
{
    const uint64_t looks = atomic_exchange(&session->scan->looks, 0);
    atomic_store(&session->scan->last_look, look);
    return looks;
}

void scan_ask(struct session *session, bool (*asked)(void *context), void *context)
{
    struct scan *scan = session->scan;
    scan->asked = asked;
    scan->asked_context = context;
    scan->asker = pthread_self();
    scan->asked_ms = 0;
}

/* Asks, if this thread is the one that may, and has not asked for 10 ms. */
static void ask(struct scan *scan)
{
    struct timespec time;
    if (!pthread_equal(scan->asker, pthread_self()))
        return;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    const uint64_t now = (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
    if (now - scan->asked_ms < ASK_MS)
        return;
    scan->asked_ms = now;
    if (scan->asked(scan->asked_context))
        atomic_store(&scan->cancelled, true);
}

/* Counts a look, and cancels at the last one. */
static void count_look(struct scan *scan)
{
    const uint64_t looks = atomic_fetch_add(&scan->looks, 1) + 1;
    if (looks >= atomic_load(&scan->last_look))
        atomic_store(&scan->cancelled, true);
}

bool scan_cancelled(const struct session *session)
{
    if (atomic_load_explicit(&session->scan->last_look, memory_order_relaxed) != 0)
        count_look(session->scan);
    struct scan *obeyed = session->scan->obeyed;
    if (obeyed->asked)
        ask(obeyed);
    return atomic_load_explicit(&obeyed->cancelled, memory_order_relaxed);
}

bool scan_go_on(const struct session *session, struct session_error *error)
{
    return !scan_cancelled(session) || session_fail(error, 0, "the question was cancelled");
}

void scan_progress(const struct session *session, uint32_t *done, uint32_t *total)
{
    *total = atomic_load_explicit(&session->scan->total, memory_order_relaxed);
    *done = atomic_load_explicit(&session->scan->done, memory_order_relaxed);
    *done = *done < *total ? *done : *total;
}

/* ---- passes ---- */

static void note_failure(struct scan *scan, uint32_t chunk, const struct session_error *error)
{
    struct pass *pass = &scan->pass;
    pthread_mutex_lock(&scan->lock);
    if (!atomic_load(&pass->failed) || chunk < pass->failed_chunk) {
        pass->failed_chunk = chunk;
        pass->error = *error;
        atomic_store(&pass->failed, true);
    }
    pthread_mutex_unlock(&scan->lock);
}

/* Takes chunks until there are none left. A chunk that fails is the first that fails: other workers
 * took those before it, and they finish them. */
static void take_part(struct scan_worker *worker)
{
    struct scan *scan = worker->scan;
    struct pass *pass = &scan->pass;
    struct session_error error = {.column = 0};
    for (;;) {
        const uint32_t chunk = atomic_fetch_add(&pass->next, 1);
        if (chunk >= pass->chunks || atomic_load_explicit(&pass->failed, memory_order_relaxed))
            return;
        if (!scan_go_on(worker->session, &error) ||
            !pass->work(pass->contexts[worker->index], worker, chunk, &error)) {
            note_failure(scan, chunk, &error);
            return;
        }
        atomic_fetch_add_explicit(&scan->done, 1, memory_order_relaxed);
    }
}

static void *worker_main(void *argument)
{
    struct scan_worker *worker = argument;
    struct scan *scan = worker->scan;
    uint64_t round = 0;
    pthread_mutex_lock(&scan->lock);
    for (;;) {
        while (!scan->closing && scan->round == round)
            pthread_cond_wait(&scan->begin, &scan->lock);
        if (scan->closing)
            break;
        round = scan->round;
        if (worker->index >= scan->pass.threads)
            continue;
        pthread_mutex_unlock(&scan->lock);
        take_part(worker);
        pthread_mutex_lock(&scan->lock);
        if (--scan->busy == 0)
            pthread_cond_signal(&scan->end);
    }
    pthread_mutex_unlock(&scan->lock);
    return NULL;
}

/* Starts the threads that a pass needs, as many as the system gives. */
static void start_threads(struct scan *scan, size_t threads)
{
    while (scan->started < threads) {
        struct scan_worker *worker = &scan->workers[scan->started];
        if (thread_start(&worker->thread, worker_main, worker) != 0)
            break;
        scan->started++;
    }
}

bool scan_chunks(struct session *session, uint32_t chunks, scan_chunk_work *work, void **contexts,
                 size_t threads, struct session_error *error)
{
    struct scan *scan = session->scan;
    threads = threads < scan->threads ? threads : scan->threads;
    threads = threads < chunks ? threads : chunks;
    pthread_mutex_lock(&scan->lock);
    start_threads(scan, threads);
    threads = threads < scan->started ? threads : scan->started;
    scan->pass.work = work;
    scan->pass.contexts = contexts;
    scan->pass.threads = threads;
    scan->pass.chunks = chunks;
    atomic_store(&scan->pass.next, 0);
    atomic_store(&scan->pass.failed, false);
    atomic_store(&scan->total, chunks);
    atomic_store(&scan->done, 0);
    scan->busy = threads > 1 ? threads - 1 : 0;
    if (threads > 1) {
        scan->round++;
        pthread_cond_broadcast(&scan->begin);
    }
    pthread_mutex_unlock(&scan->lock);
    take_part(&scan->workers[0]);
    pthread_mutex_lock(&scan->lock);
    while (scan->busy > 0)
        pthread_cond_wait(&scan->end, &scan->lock);
    const bool good = !atomic_load(&scan->pass.failed);
    if (!good && error)
        *error = scan->pass.error;
    pthread_mutex_unlock(&scan->lock);
    return good;
}

bool scan_chunks_shared(struct session *session, uint32_t chunks, scan_chunk_work *work,
                        void *context, struct session_error *error)
{
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = context;
    return scan_chunks(session, chunks, work, contexts, SCAN_THREADS_MAX, error);
}

/* ---- columns ---- */

struct column_reader *scan_reader(struct scan_worker *worker, struct session_error *error)
{
    if (!worker->reader)
        worker->reader = column_reader_new(worker->session->columns, error);
    return worker->reader;
}

size_t scan_worker_number(const struct scan_worker *worker)
{
    return worker->index;
}

const struct session *scan_session(const struct scan_worker *worker)
{
    return worker->session;
}

bool scan_column(struct scan_worker *worker, uint32_t chunk, enum column column,
                 struct column_view *view, struct session_error *error)
{
    struct column_reader *reader = scan_reader(worker, error);
    return reader && column_reader_get(reader, chunk, column, view, error);
}

bool scan_look(struct session *session, uint32_t chunk, enum column column,
               struct column_view *view, struct session_error *error)
{
    return scan_column(&session->scan->workers[0], chunk, column, view, error);
}

/* ---- rows of a set ---- */

struct visiting {
    const struct row_set *set;
    unsigned columns;
    struct scan_picking picking; /* functions that are NULL: all rows matter */
    scan_visitor *visit;
    void *context;
};

/* Gives the bytes and counts that the rows represent, which needs memory only for a sample. */
static bool estimate(struct scan_worker *worker, struct chunk_rows *rows,
                     struct session_error *error)
{
    const struct estimate *of_sample = worker->session->estimate;
    if (of_sample && !worker->estimated)
        worker->estimated = malloc(sizeof(*worker->estimated));
    if (of_sample && !worker->estimated)
        return session_fail_memory(error, "the estimates");
    estimate_chunk(of_sample, rows->first_row, &rows->views[COLUMN_SIZE], worker->estimated,
                   &rows->bytes, &rows->counts);
    return true;
}

static bool read_columns(struct scan_worker *worker, unsigned columns, struct chunk_rows *rows,
                         struct session_error *error)
{
    for (int column = 0; column < COLUMN_TOTAL; column++)
        if ((columns & COLUMN_BIT(column)) != 0 &&
            !scan_column(worker, rows->chunk, (enum column)column, &rows->views[column], error))
            return false;
    return (columns & COLUMN_BIT(COLUMN_SIZE)) == 0 || estimate(worker, rows, error);
}

bool scan_chunk_rows(struct scan_worker *worker, uint32_t chunk, const struct row_set *set,
                     unsigned columns, const struct scan_picking *picking, scan_visitor *visit,
                     void *context, struct session_error *error)
{
    const struct column_store *store = worker->session->columns;
    uint64_t picked[ROW_SET_WORDS];
    if (row_set_chunk_empty(set, chunk) ||
        (picking->wanted && !picking->wanted(context, store, chunk)))
        return true;
    struct chunk_rows rows = {.chunk = chunk,
                              .first_row = (uint64_t)chunk * COLUMN_CHUNK_ROWS,
                              .words = row_set_chunk(set, chunk)};
    rows.colors = !set->colors ? NULL : set->colors + rows.first_row;
    if (picking->pick) {
        if (!read_columns(worker, picking->first, &rows, error))
            return false;
        if (!picking->pick(context, store, &rows, picked))
            return true;
        rows.words = picked;
    }
    if (!read_columns(worker, columns & ~picking->first, &rows, error))
        return false;
    visit(context, &rows);
    return true;
}

static bool visit_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    const struct visiting *visiting = context;
    return scan_chunk_rows(worker, chunk, visiting->set, visiting->columns, &visiting->picking,
                           visiting->visit, visiting->context, error);
}

bool scan_picked_rows(struct session *session, const struct row_set *set, unsigned columns,
                      const struct scan_picking *picking, scan_visitor *visit, void **contexts,
                      size_t threads, struct session_error *error)
{
    struct visiting visiting[SCAN_THREADS_MAX];
    void *each[SCAN_THREADS_MAX];
    threads = threads < SCAN_THREADS_MAX ? threads : SCAN_THREADS_MAX;
    for (size_t i = 0; i < threads; i++) {
        visiting[i] = (struct visiting){set, columns, *picking, visit, contexts[i]};
        each[i] = &visiting[i];
    }
    return scan_chunks(session, set->chunks, visit_chunk, each, threads, error);
}

bool scan_wanted_chunks(struct session *session, const struct row_set *set, unsigned columns,
                        scan_wanted *wanted, scan_visitor *visit, void **contexts, size_t threads,
                        struct session_error *error)
{
    const struct scan_picking picking = {.wanted = wanted};
    return scan_picked_rows(session, set, columns, &picking, visit, contexts, threads, error);
}

bool scan_each_chunk(struct session *session, const struct row_set *set, unsigned columns,
                     scan_visitor *visit, void **contexts, size_t threads,
                     struct session_error *error)
{
    return scan_wanted_chunks(session, set, columns, NULL, visit, contexts, threads, error);
}

bool scan_in_order(struct session *session, const struct row_set *set, unsigned columns,
                   scan_visitor *visit, void *context, struct session_error *error)
{
    return scan_each_chunk(session, set, columns, visit, &context, 1, error);
}

/* ---- contexts ---- */

/* The memory of the threads of a pass. A screen takes several passes, each of which may need tens
 * of megabytes, and new pages cost more than to clear old ones. So what a pass has used is kept for
 * the next one, until the session rests. */

enum { SPARES_MOST = 2 * SCAN_THREADS_MAX };
/* Memory from this size on is kept, so much in all, for passes that need a quarter and more. */
#define SPARE_LEAST ((size_t)128 << 10)
#define SPARE_BYTES_MOST ((size_t)128 << 20)
enum { SPARE_TIMES_MOST = 4 };

struct spare_memory {
    struct spare {
        void *memory; /* or NULL */
        size_t size;
    } each[SPARES_MOST];
    size_t bytes;
};

void scan_rest(struct session *session)
{
    for (size_t i = 0; session->spare && i < SPARES_MOST; i++)
        free(session->spare->each[i].memory);
    free(session->spare);
    session->spare = NULL;
}

/* Takes the smallest spare memory that fits, or makes some. Stores its size. NULL if memory is
 * exhausted. */
static void *take(const struct session *session, size_t wanted, size_t *size)
{
    struct spare *best = NULL;
    for (size_t i = 0; session->spare && i < SPARES_MOST; i++) {
        struct spare *spare = &session->spare->each[i];
        if (spare->memory && spare->size >= wanted && spare->size / SPARE_TIMES_MOST <= wanted &&
            (!best || spare->size < best->size))
            best = spare;
    }
    *size = best ? best->size : wanted;
    if (!best)
        return large_memory(wanted);
    void *memory = best->memory;
    session->spare->bytes -= best->size;
    *best = (struct spare){NULL, 0};
    return memory;
}

/* Keeps memory, or frees it. */
static void give(struct session *session, void *memory, size_t size)
{
    size_t at = 0;
    if (size >= SPARE_LEAST && !session->spare)
        session->spare = calloc(1, sizeof(*session->spare));
    while (session->spare && at < SPARES_MOST && session->spare->each[at].memory)
        at++;
    if (size < SPARE_LEAST || !session->spare || at == SPARES_MOST ||
        session->spare->bytes + size > SPARE_BYTES_MOST) {
        free(memory);
        return;
    }
    session->spare->each[at] = (struct spare){memory, size};
    session->spare->bytes += size;
}

/* Clears memory. Looks for a cancel now and then. */
static bool clear(const struct session *session, uint8_t *memory, size_t size,
                  struct session_error *error)
{
    const size_t step = (size_t)2 << 20;
    for (size_t i = 0; i < size; i += step) {
        if (!scan_go_on(session, error))
            return false;
        memset(memory + i, 0, size - i < step ? size - i : step);
    }
    return true;
}

bool scan_contexts_open(struct session *session, struct scan_contexts *contexts, size_t size,
                        size_t most, struct session_error *error)
{
    /* Each begins a cache line of its own. */
    const size_t rounded = (size + 63) / 64 * 64;
    *contexts = (struct scan_contexts){.session = session};
    while (contexts->threads < scan_threads(session) &&
           (contexts->threads == 0 || size * (contexts->threads + 1) <= most)) {
        size_t made;
        void *context = take(session, rounded, &made);
        if (!context && contexts->threads > 0)
            break;
        if (!context)
            return session_fail_memory(error, "a pass over the allocations");
        contexts->sizes[contexts->threads] = made;
        contexts->each[contexts->threads++] = context;
        if (!clear(session, context, rounded, error)) {
            scan_contexts_close(contexts);
            return false;
        }
    }
    return true;
}

void scan_contexts_close(struct scan_contexts *contexts)
{
    for (size_t i = 0; i < contexts->threads; i++)
        give(contexts->session, contexts->each[i], contexts->sizes[i]);
    contexts->threads = 0;
}

/* ---- large memory ---- */

#define HUGE_PAGE ((size_t)2 << 20)

void *large_memory(size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, size < HUGE_PAGE ? 64 : HUGE_PAGE, size) != 0)
        return NULL;
    if (size >= HUGE_PAGE)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void *large_zeroed(size_t size)
{
    uint8_t *memory = calloc(1, size);
    if (memory && size >= 2 * HUGE_PAGE) {
        const size_t before = HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE;
        madvise(memory + before, (size - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    }
    return memory;
}
