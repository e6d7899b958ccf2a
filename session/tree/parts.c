/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides work on many rows among the threads of scan.h. */
#include "session/data/session_state.h"
#include "session/scan/scan.h"
#include "session/tree/tree_state.h"

/* A question is cancelled soon with parts that are small, and handing these out costs little with
 * parts that are not too small. */
#define PART 4096u

struct parting {
    tree_part_work *work;
    void *context;
    uint32_t count;
};

static bool work_on_part(void *context, struct scan_worker *worker, uint32_t part,
                         struct session_error *error)
{
    const struct parting *parting = context;
    const uint32_t first = part * PART, left = parting->count - first;
    (void)error;
    parting->work(parting->context, scan_worker_number(worker), first,
                  first + (left < PART ? left : PART));
    return true;
}

bool tree_each_part(const struct session_tree *tree, uint32_t count, tree_part_work *work,
                    void *context, struct session_error *error)
{
    struct parting parting = {work, context, count};
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = &parting;
    if (count > PART)
        return scan_chunks(tree->session, count / PART + (count % PART != 0), work_on_part,
                           contexts, SCAN_THREADS_MAX, error);
    /* A pass would show its progress in the browser. */
    if (!scan_go_on(tree->session, error))
        return false;
    work(context, 0, 0, count);
    return true;
}
