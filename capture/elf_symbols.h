/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that an ELF file on the disk names, read without the C library: for rare paths
 * inside the program, where nothing may be allocated and errno stays as it is.
 */
#ifndef MPROF_CAPTURE_ELF_SYMBOLS_H
#define MPROF_CAPTURE_ELF_SYMBOLS_H

#include <stdint.h>

/* `address` as in the file, `size` > 0. */
typedef void elf_symbols_each(void *context, const char *name, uint64_t address, uint64_t size);

/*
 * Calls `each` for every defined function of .symtab and .dynsym; one that stands in both comes
 * twice. A file that cannot be read, or is damaged, has fewer or none. The file is read and not
 * mapped, since it may be cut short meanwhile.
 */
void elf_symbols_of(const char *path, elf_symbols_each *each, void *context);

#endif
