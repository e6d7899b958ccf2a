/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up a symbol in an object that is loaded, without a call of the loader. */
#pragma once

#include <link.h>
#include <stdint.h>

/*
 * Returns the address of what the object defines under `name`, of several versions the one that new
 * programs get. `dynamic`: its dynamic section. NULL: it has no such symbol, only one of an
 * indirect function, or no table of the kind DT_GNU_HASH. Safe at any time.
 */
void *loaded_symbol(uint64_t bias, const ElfW(Dyn) * dynamic, const char *name);
