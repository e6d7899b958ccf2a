/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds an allocator that is linked into a program. */
#pragma once

#include <stdbool.h>

/* Why blocks of the program are missing; %s is the allocator. */
#define LINKED_ALLOCATOR_WHY "its calls of %s, presumably linked in: its messages are in the file"

/* Returns the allocator whose messages are among the constants of the ELF file, or NULL. Also NULL
 * if the file cannot be read, or `stripped` and it has a table of symbols, where the recorder
 * looks. */
const char *linked_allocator(const char *path, bool stripped);
