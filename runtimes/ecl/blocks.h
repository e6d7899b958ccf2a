/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks of the collector's heap that are recorded and not yet ended: one bit for each 16 bytes
 * of address space.
 *
 * All threads set and clear bits without a lock. Memory is mapped when it is first needed, and is
 * empty in a forked child. A sweep goes over it in place, in the order of addresses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Adds a block. Returns false if it was there already, or if there is no memory for it. */
bool blocks_add(uintptr_t address);

/* Removes a block. Returns whether it was there. */
bool blocks_remove(uintptr_t address);

/* Removes the blocks for which `is_dead` holds, and calls `end` for each. Blocks may be added and
 * removed during the call. Allocates nothing. */
void blocks_sweep(bool (*is_dead)(uintptr_t address), void (*end)(uintptr_t address));
