/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums the bytes between the members of a group's objects. */
#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/data/type_padding.h"
#include "session/group/shape.h"
#include "session/scan/estimate.h"

/* The sums of one thread. */
struct padding {
    const struct session_group_set *set;
    const uint64_t *of_type;
    uint64_t *bytes; /* by group */
    uint32_t groups[COLUMN_CHUNK_ROWS];
    struct estimate_rows *estimated; /* NULL: the session is not sampled */
};

static bool pad_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct padding *padding = context;
    const struct session_group_set *set = padding->set;
    struct column_view size, bytes, counts, objects, type;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    const uint64_t *words = row_set_chunk(&set->rows, chunk);
    if (!group_of_rows(set, worker, chunk, words, padding->groups, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        !scan_column(worker, chunk, COLUMN_TYPE, &type, error) ||
        !scan_column(worker, chunk, COLUMN_COUNT_OF_OBJECTS, &objects, error))
        return false;
    estimate_chunk(set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &size,
                   padding->estimated, &bytes, &counts);
    ROW_SET_EACH(words, row)
    {
        padding->bytes[padding->groups[row]] += padding->of_type[column_view_at(&type, row)] *
                                                column_view_at(&objects, row) *
                                                column_view_at(&counts, row);
    }
    return true;
}

static void free_padding(struct padding *padding)
{
    if (!padding)
        return;
    free(padding->bytes);
    free(padding->estimated);
    free(padding);
}

static struct padding *new_padding(const struct session_group_set *set, const uint64_t *of_type)
{
    struct padding *padding = calloc(1, sizeof(*padding));
    if (!padding)
        return NULL;
    padding->set = set;
    padding->of_type = of_type;
    padding->bytes = calloc(set->made + 1, sizeof(*padding->bytes));
    if (set->session->estimate)
        padding->estimated = malloc(sizeof(*padding->estimated));
    if (padding->bytes && (padding->estimated || !set->session->estimate))
        return padding;
    free_padding(padding);
    return NULL;
}

bool group_find_padding(struct session_group_set *set, struct session_error *error)
{
    struct padding *contexts[SCAN_THREADS_MAX] = {NULL};
    const size_t threads = group_threads(set, set->made * sizeof(uint64_t));
    if (set->padding)
        return true;
    uint64_t *of_type = type_padding_read(set->session, error);
    bool good = of_type != NULL;
    for (size_t i = 0; good && i < threads; i++) {
        contexts[i] = new_padding(set, of_type);
        good = contexts[i] || session_fail_memory(error, "the measures of groups");
    }
    good = good && scan_chunks(set->session, set->rows.chunks, pad_chunk, (void **)contexts,
                               threads, error);
    for (size_t i = 1; good && i < threads; i++)
        for (size_t group = 0; group < set->made; group++)
            contexts[0]->bytes[group] += contexts[i]->bytes[group];
    if (good) {
        set->padding = contexts[0]->bytes;
        contexts[0]->bytes = NULL;
    }
    for (size_t i = 0; i < threads; i++)
        free_padding(contexts[i]);
    free(of_type);
    return good;
}
