/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of the threads of a pass. A screen takes several passes, each of which may need tens
 * of megabytes, and new pages cost more than to clear old ones. So what a pass has used is kept for
 * the next one, until the session rests.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/scan/large_memory.h"
#include "session/scan/scan.h"

enum { SPARES_MOST = 2 * SCAN_THREADS_MAX };
/* Memory of this size and more is kept, at most so much in all, for passes that need a quarter of
 * it and more. */
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
           (contexts->threads == 0 || rounded * (contexts->threads + 1) <= most)) {
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
