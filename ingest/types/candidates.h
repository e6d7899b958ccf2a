/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of a site's unit that have a given size.
 */
#ifndef MPROF_INGEST_TYPES_CANDIDATES_H
#define MPROF_INGEST_TYPES_CANDIDATES_H

#include "ingest/base/array.h"
#include "ingest/types/dwarf/site.h"
#include "ingest/types/types.h"

#define TYPES_CANDIDATES_MAX 16

/* The candidates for the blocks of `size` bytes from one frame. */
struct types_candidate_list {
    struct types_frame frame;
    uint64_t size;
    size_t count;
    const char **names; /* an array of the list, of texts of the symbolizer; or NULL */
};

/* The lists asked for so far. All bytes 0: none yet. */
struct types_candidate_lists {
    struct types_candidate_list *rows;
    size_t count, capacity;
    struct index_map by_question;
};

/*
 * Returns the list for a frame and size, which stays where it is until the next call. `*known` is
 * false if the list is new and empty. NULL if memory is exhausted.
 */
struct types_candidate_list *types_candidate_list_at(struct types_candidate_lists *lists,
                                                     const struct types_frame *frame, uint64_t size,
                                                     bool *known);
void types_candidate_lists_free(struct types_candidate_lists *lists);

/*
 * Fills an empty list with the names of the records of its size, and of typedefs of such records,
 * in the unit of the site's innermost function: each name once, and as many as there is room for.
 */
void types_candidates_at(const struct types_site *site, struct types_candidate_list *list);

/* Adds the names that are missing to the `count` names, up to `capacity`. Returns the new count. */
size_t types_candidates_join(const struct types_candidate_list *list, const char **names,
                             size_t count, size_t capacity);

#endif
