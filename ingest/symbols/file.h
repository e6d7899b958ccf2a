/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of a module: ELF, the separate debug file, DWARF.
 *
 * libdwfl finds the debug file by build-id under /usr/lib/debug and --debug-dir, by .gnu_debuglink
 * (whose CRC it checks), or through debuginfod if DEBUGINFOD_URLS is set. */
#pragma once

#include <elfutils/libdwfl.h>
#include <stddef.h>

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

/* Opens the file, and adds the places where its separate debug file is looked for to `depends`.
 * Returns true on success; release it with symbols_file_close(). Otherwise
 * returns false and writes one line into `reason` (`reason_size` bytes) that says why. */
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

/* Returns the unpacked data of the next section of debug information after *section (NULL: the
 * first), and its name without .debug_ or .zdebug_. NULL: there is none. */
const Elf_Data *symbols_file_debug_section(Elf *elf, Elf_Scn **section, const char **name);
/* Returns the bytes of all these sections in the file of `dwarf`. */
uint64_t symbols_file_debug_size(Dwarf *dwarf);

/* Returns the section of code that holds `address`, or NULL. */
const struct symbols_range *symbols_file_code(const struct symbols_file *file, uint64_t address);

/* ---- paths --------------------------------------------------------------------------------- */

/* The files that a module's symbols came from. */

struct symbols_path {
    const char *path;   /* of the file that was opened; NULL: there is none */
    char build_id[130]; /* hexadecimal; "": none */
};

struct symbols_paths {
    struct symbols_path module; /* the module's own file */
    struct symbols_path debug;  /* its separate debug information */
    struct symbols_path common; /* the information that dwz(1) moved out of several files */
    char common_path[4096];     /* holds common.path */
};

/* Returns false if the module could not be opened or is not a file (the vdso). */
bool symbols_paths(struct symbols *symbols, uint32_t id, struct symbols_paths *paths);

/* A file (.dwo) that holds the debug information of one unit of a module. */
struct symbols_split {
    const char *name; /* as the unit names it */
    char path[8192];  /* where libdw reads it: in the folder of the file that names it or, if it is
                         not there, in the compiler's */
};

/* Calls `found` for each of the module's units that has such a file. */
void symbols_paths_split(struct symbols *symbols, uint32_t id,
                         void (*found)(void *context, const struct symbols_split *split),
                         void *context);

struct symbols_strings;

/* Returns NULL if memory is exhausted. */
struct symbols_strings *symbols_strings_new(void);
void symbols_strings_free(struct symbols_strings *strings);

/* Returns the kept copy of `text`, or "" if memory is exhausted. */
const char *symbols_strings_keep(struct symbols_strings *strings, const char *text);

/* Returns the kept, demangled form of `linkage_name` (C++, Rust, D, with parameters), or the kept
 * name itself if it is not mangled. */
const char *symbols_strings_demangle(struct symbols_strings *strings, const char *linkage_name);

/* Returns the kept form of a name that GNAT wrote as its source has it, "shop.stock.add" for
 * "shop__stock__add__2", or `name` itself, which must be kept. */
const char *symbols_strings_ada(struct symbols_strings *strings, const char *name);
