/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peak of a selection. If the processes ran on several machines, each machine is searched
 * separately: bytes of two machines are never added. The peak is the largest one.
 */
#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/peak_search.h"
#include "session/summary/summary.h"

static bool search(struct selection *selection, const uint8_t *here, struct session_error *error)
{
    const uint64_t end = selection->session->duration_ns + 1;
    struct time_buckets buckets;
    if (!time_buckets_open(&buckets, selection, 0, end, 1, peak_search_buckets(selection), error))
        return false;
    struct peak_search *search = peak_search_new(here, &buckets, error);
    const bool good = search && peak_search_whole(search, selection, error);
    peak_search_free(search);
    time_buckets_close(&buckets);
    return good;
}

/* Searches each of several machines, where only the rows of its own threads count. */
static bool search_machines(struct selection *selection, struct session_error *error)
{
    const struct names *names = &selection->session->names;
    uint8_t *here = malloc(names->thread.count);
    bool good = here || session_fail_memory(error, "the peak");
    for (uint32_t machine = 1; good && machine <= names->machines; machine++) {
        for (uint32_t thread = 0; thread < names->thread.count; thread++)
            here[thread] = names->process_machine[names->thread_process[thread]] == machine;
        good = search(selection, here, error);
    }
    free(here);
    return good;
}

bool selection_find_peak(struct selection *selection, struct session_error *error)
{
    struct session *session = selection->session;
    if (selection->peak_known)
        return true;
    selection->peak_bytes = selection->peak_ns = 0;
    if (selection->everything && summary_answers(session)) {
        selection->peak_bytes = session->peak_bytes;
        selection->peak_ns = session->peak_ns;
        return selection->peak_known = true;
    }
    selection->peak_known = session->names.machines > 1 ? search_machines(selection, error)
                                                        : search(selection, NULL, error);
    return selection->peak_known;
}

/* Finds the peak at the first call of a getter. The cast is safe: no selection is const. */
static struct selection *with_peak(const struct selection *selection)
{
    struct selection *found = (struct selection *)(uintptr_t)selection;
    return selection_find_peak(found, NULL) ? found : NULL;
}

uint64_t selection_peak_bytes(const struct selection *selection)
{
    const struct selection *found = with_peak(selection);
    return !found ? 0 : found->peak_bytes;
}

uint64_t selection_peak_ns(const struct selection *selection)
{
    const struct selection *found = with_peak(selection);
    return !found ? 0 : found->peak_ns;
}
