/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of numbers, as in `id in (7, 12..40)`. */
#ifndef MPROF_SESSION_FILTER_NUMBER_LIST_H
#define MPROF_SESSION_FILTER_NUMBER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/tree.h"

struct number_range {
    uint64_t low, high; /* both included */
};

struct number_list {
    size_t count;
    struct number_range ranges[]; /* ascending; none meets another */
};

/* Makes a list, which the caller frees by free(). Returns NULL if memory is exhausted. */
struct number_list *number_list_new(const struct filter_item *items);
/* Returns the position of the first range that does not end before `number`. */
size_t number_list_from(const struct number_list *list, uint64_t number);
bool number_list_has(const struct number_list *list, uint64_t number);

#endif
