/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides work on many rows among the threads of scan.h. */
#include "session/data/session_state.h"
#include "session/scan/scan.h"
#include "session/tree/tree_state.h"

/* So few that a question is cancelled soon, so many that handing them out costs nothing. */
#define PART 4096u

struct parting {
    tree_part_work *work;
    void *context;
    uint32_t count;
    size_t thread;
};

static bool work_on_part(void *context, struct scan_worker *worker, uint32_t part,
                         struct session_error *error)
{
    const struct parting *parting = context;
    const uint32_t first = part * PART, left = parting->count - first;
    (void)worker;
    (void)error;
    parting->work(parting->context, parting->thread, first, first + (left < PART ? left : PART));
    return true;
}

bool tree_each_part(const struct session_tree *tree, uint32_t count, tree_part_work *work,
                    void *context, struct session_error *error)
{
    struct parting partings[SCAN_THREADS_MAX];
    void *contexts[SCAN_THREADS_MAX];
    const uint32_t parts = count / PART + (count % PART != 0);
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++) {
        partings[i] = (struct parting){work, context, count, i};
        contexts[i] = &partings[i];
    }
    return scan_chunks(tree->session, parts, work_on_part, contexts, SCAN_THREADS_MAX, error);
}
