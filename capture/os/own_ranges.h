/* SPDX-License-Identifier: BSD-2-Clause */
/* The mappings of the recorder's own memory, for own_memory.h. Makes no system call. */
#ifndef MPROF_CAPTURE_OS_OWN_RANGES_H
#define MPROF_CAPTURE_OS_OWN_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Notes a mapping. If there are more than 4096 at once, the others are treated as the program's. */
void own_ranges_add(void *memory, size_t size);
/* Forgets it, before it is unmapped. `memory` is the beginning of a mapping that was noted. */
void own_ranges_remove(const void *memory);
/* Goes through the mappings. `at` begins as 0. Returns false after the last one. */
bool own_ranges_next(uint32_t *at, uintptr_t *start, size_t *size);

/* Returns true if the program locks new mappings: then a mapping takes memory at once, unless it is
 * made without any access. */
bool own_ranges_are_locked(void);
void own_ranges_set_locked(bool locked);

#endif
