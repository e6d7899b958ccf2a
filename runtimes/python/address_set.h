/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of addresses in memory of its own, for use while the program's heap must not change. */
#ifndef MPROF_RUNTIMES_PYTHON_ADDRESS_SET_H
#define MPROF_RUNTIMES_PYTHON_ADDRESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All-zero is empty. */
struct address_set {
    const void **items; /* in the order in which they were added */
    uint32_t *slots;    /* place in `items` plus 1; 0: free */
    size_t count, capacity;
};

/* Returns the place of the address, which is added if it is not there. SIZE_MAX: there is no
 * memory, or the set has 2^31 addresses. */
size_t address_set_add(struct address_set *set, const void *address);
void address_set_free(struct address_set *set);

#endif
