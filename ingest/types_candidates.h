/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which records of a site's unit have a given size.
 */
#ifndef MPROF_INGEST_TYPES_CANDIDATES_H
#define MPROF_INGEST_TYPES_CANDIDATES_H

#include "ingest/types.h"
#include "ingest/types_site.h"

#define TYPES_CANDIDATES_MAX 16

/* Candidates for the blocks of `size` bytes that one frame asks for. */
struct types_candidate_list {
    struct types_frame frame;
    uint64_t size;
    size_t count;
    const char *names[TYPES_CANDIDATES_MAX]; /* of the symbolizer */
};

/*
 * The list for a frame and size among `*lists` (NULL: none yet); `*known` is false for one that is
 * new and empty. NULL where memory is exhausted.
 */
struct types_candidate_list *types_candidate_list_at(void **lists, const struct types_frame *frame,
                                                     uint64_t size, bool *known);
void types_candidate_lists_free(void *lists);

/*
 * Fills an empty list with the names of the records of its size, and typedefs of such, in the unit
 * of the site's innermost function: each once, and as many as there is room for.
 */
void types_candidates_at(const struct types_site *site, struct types_candidate_list *list);

/* Adds those to the `count` names that are not there yet, at most up to `capacity`. */
size_t types_candidates_join(const struct types_candidate_list *list, const char **names,
                             size_t count, size_t capacity);

#endif
