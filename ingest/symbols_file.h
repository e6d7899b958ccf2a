/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A module's file and what is known of it: ELF, the separate debug file, DWARF.
 *
 * libdwfl finds the debug file: by build-id under /usr/lib/debug and --debug-dir, by
 * .gnu_debuglink (its CRC checked), by debuginfod where DEBUGINFOD_URLS is set.
 */
#ifndef MPROF_INGEST_SYMBOLS_FILE_H
#define MPROF_INGEST_SYMBOLS_FILE_H

#include "ingest/symbols.h"

#include <elfutils/libdwfl.h>

/* Addresses [start, end) of a section that holds code. */
struct symbols_range {
    uint64_t start, end;
};

struct symbols_file {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;        /* the module's own file */
    Dwarf *dwarf;    /* NULL: none */
    Dwarf_Addr bias; /* of an address in DWARF to one of the module */
    struct symbols_range *code;
    size_t code_count;
    Dwfl_Callbacks callbacks; /* libdwfl keeps pointers to both: the struct must not move */
    char *debug_path;
    bool refused; /* debug information that would grow beyond measure */
};

/*
 * Opens the file. On success true, to be released by symbols_file_close(); otherwise false with
 * one line in `reason` (`reason_size` bytes) that says why.
 */
bool symbols_file_open(struct symbols_file *file, const struct symbols_options *options,
                       const char *path, const uint8_t *build_id, size_t build_id_length,
                       char *reason, size_t reason_size);
void symbols_file_close(struct symbols_file *file);

/*
 * The next section of debug information behind *section (NULL: the first): its data, unpacked, and
 * its name without the .debug_ or .zdebug_ before it. NULL: there is none.
 */
const Elf_Data *symbols_file_debug_section(Elf *elf, Elf_Scn **section, const char **name);
/* Bytes of all of them in the file of `dwarf`. */
uint64_t symbols_file_debug_size(Dwarf *dwarf);

/* The section of code that holds `address`, NULL where none does. */
const struct symbols_range *symbols_file_code(const struct symbols_file *file, uint64_t address);

#endif
