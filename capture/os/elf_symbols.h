/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of ELF files on the disk and of loaded objects. It works without the C library, for
 * rare paths inside the program where nothing may be allocated and errno must keep its value. */
#pragma once

#include <link.h>
#include <stdint.h>

/* Takes one of them: `address` as in the file, `size` > 0. */
typedef void elf_symbols_each(void *context, const char *name, uint64_t address, uint64_t size);

/* Calls `each` for every defined function of .symtab and .dynsym; one that is in both comes twice.
 * A file that is damaged or cannot be read has fewer or none. The file is read and not mapped,
 * since it may be cut short at any time. */
void elf_symbols_of(const char *path, elf_symbols_each *each, void *context);
/* Does the same for data. */
void elf_symbols_of_data(const char *path, elf_symbols_each *each, void *context);

/* Returns the address of what a loaded object defines under `name`, of several versions the one
 * that new programs get. `dynamic`: its dynamic section. NULL: it has no such symbol, only one of
 * an indirect function, or no table of the kind DT_GNU_HASH. Safe at any time. */
void *loaded_symbol(uint64_t bias, const ElfW(Dyn) * dynamic, const char *name);
/* The same; *size becomes its bytes. */
void *loaded_symbol_sized(uint64_t bias, const ElfW(Dyn) * dynamic, const char *name,
                          uint64_t *size);
