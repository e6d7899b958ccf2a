/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of a module: ELF, the separate debug file, DWARF.
 *
 * libdwfl finds the debug file by build-id under /usr/lib/debug and --debug-dir, by .gnu_debuglink
 * (whose CRC it checks), or through debuginfod if DEBUGINFOD_URLS is set.
 */
#ifndef MPROF_INGEST_SYMBOLS_FILE_H
#define MPROF_INGEST_SYMBOLS_FILE_H

#include <elfutils/libdwfl.h>

#include "ingest/symbols/symbols.h"

/* The addresses [start, end) of a section that holds code. */
struct symbols_range {
    uint64_t start, end;
};

struct symbols_file {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;        /* the module's own file */
    Dwarf *dwarf;    /* or NULL */
    Dwarf_Addr bias; /* add this to an address in DWARF to get the module's */
    struct symbols_range *code;
    size_t code_count;
    Dwfl_Callbacks callbacks; /* libdwfl keeps pointers to both, so the struct must not move */
    char *debug_path;
    struct symbols_options options; /* as they were given */
    struct cache_depends *depends;
    /* Why its debug information cannot be read, and what helps. NULL: it can, or there is none. */
    const char *unreadable;
};

/*
 * Opens the file, and adds the places where its separate debug file is looked for to `depends`
 * (NULL: nobody asks). Returns true on success; release it with symbols_file_close(). Otherwise
 * returns false and writes one line into `reason` (`reason_size` bytes) that says why.
 */
bool symbols_file_open(struct symbols_file *file, const struct symbols_options *options,
                       struct cache_depends *depends, const char *path, const uint8_t *build_id,
                       size_t build_id_length, char *reason, size_t reason_size);
void symbols_file_close(struct symbols_file *file);

/* The content of a section, and its address. */
struct symbols_bytes {
    const uint8_t *data; /* NULL: there is none. The ELF owns it. */
    size_t size;
    uint64_t address;
};
/* Returns the first section of this name that lies in the file. */
struct symbols_bytes symbols_file_section(Elf *elf, const char *wanted);

/*
 * Returns the unpacked data of the next section of debug information after *section (NULL: the
 * first), and its name without .debug_ or .zdebug_. NULL: there is none.
 */
const Elf_Data *symbols_file_debug_section(Elf *elf, Elf_Scn **section, const char **name);
/* Returns the bytes of all these sections in the file of `dwarf`. */
uint64_t symbols_file_debug_size(Dwarf *dwarf);

/* Writes the bytes, as many as there is room for, as text of two digits each. */
void symbols_hexadecimal(char *text, size_t size, const uint8_t *bytes, size_t length);

/* Returns the section of code that holds `address`, or NULL. */
const struct symbols_range *symbols_file_code(const struct symbols_file *file, uint64_t address);

#endif
