/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a pc in a module to frames: function, file, line, inlined calls.
 *
 * Order of calls: symbols_new(), symbols_set_program() if known, symbols_module() once for each
 * module, symbols_lookup() for each distinct pc (the caller caches), symbols_free(). Tables are
 * built at a module's first lookup: one pass over its symbol table and its DWARF units; a lookup is
 * then a binary search. Names are owned by the tables and live until symbols_free().
 */
#ifndef MPROF_INGEST_SYMBOLS_H
#define MPROF_INGEST_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;
struct symbols_file;
struct symbols_dwarf;

struct symbols_options {
    const char *debug_dir; /* --debug-dir, besides /usr/lib/debug; NULL: none */
    const char *sysroot;   /* --sysroot, before every path; NULL: none */
};

/* NULL only where memory is exhausted. */
struct symbols *symbols_new(const struct symbols_options *options);
void symbols_free(struct symbols *symbols);

/* What of the recorded program names need. */
struct symbols_program {
    const char *directory; /* relative module paths are below it; NULL: unknown */
    uint64_t pid;          /* of its perf map, 0: unknown */
    uint64_t start_ns;     /* of the recording, by the real-time clock */
};

/*
 * Before the first lookup. Reads /tmp/perf-PID.map (below the sysroot) if the program left one.
 * False where memory is exhausted.
 */
bool symbols_set_program(struct symbols *symbols, const struct symbols_program *program);

/*
 * Registers the module with the trace's `id` (> 0). `build_id` may be empty; a file whose
 * build-id differs is not used, and symbols_status() says so.
 */
void symbols_module(struct symbols *symbols, uint32_t id, const char *path, const uint8_t *build_id,
                    size_t build_id_length);

/*
 * The modules of another trace follow, with ids of their own. A file that is registered again, by
 * its path and build-id, is the one that is open already.
 */
void symbols_next_trace(struct symbols *symbols);

/*
 * A number that stands for the file of module `id` in all traces, and may be given for its id in
 * every call. For ids without a module it is one that stands for this trace.
 */
uint32_t symbols_file_number(const struct symbols *symbols, uint32_t id);

/* Bytes of debug information of the files that are open: what is kept grows with them. */
uint64_t symbols_bytes(const struct symbols *symbols);
/* How many files are open, each with one or two descriptors. */
size_t symbols_files(const struct symbols *symbols);

/* The debug information of module `id` was given up in part: symbols_status() then says so. */
void symbols_set_spent(struct symbols *symbols, uint32_t id);

/* 'dwarf', 'symtab', 'dynsym', 'none', or one line that says why there are none. */
const char *symbols_status(struct symbols *symbols, uint32_t id);

struct symbols_frame {
    const char *function;     /* demangled; "module+0x1234" where no symbol covers the pc */
    const char *linkage_name; /* as in the symbol table; NULL where the same */
    const char *file;         /* of `line`; NULL: unknown */
    const char *decl_file;    /* where the function is declared; NULL: unknown */
    uint64_t start;           /* where the (inlined) function's code begins, 0: unknown */
    uint64_t alone;           /* of an inlined one: where it stands out of line too, 0: nowhere */
    uint32_t line;            /* 0: unknown */
    uint32_t decl_line;
    bool inlined; /* into the next frame */
};

#define SYMBOLS_FRAMES_MAX 64

/*
 * Frames of the ELF address `pc` (already minus 1 for return addresses) of module `id`,
 * innermost first, at most SYMBOLS_FRAMES_MAX; returns at least 1. Module 0 is "no module": `pc`
 * is then the address in the process, and the perf map may know it.
 */
size_t symbols_lookup(struct symbols *symbols, uint32_t id, uint64_t pc,
                      struct symbols_frame *frames);

/*
 * For rules that read more of a module than names: its open file (symbols_file.h) and the index
 * of its DWARF (symbols_dwarf.h). NULL where there is none. They live until symbols_free().
 */
const struct symbols_file *symbols_module_file(struct symbols *symbols, uint32_t id);
struct symbols_dwarf *symbols_module_dwarf(struct symbols *symbols, uint32_t id);

/* As given by --sysroot; NULL: none. */
const char *symbols_sysroot(const struct symbols *symbols);

/* A symbol of module `id`, linkage name as in the symbol table. */
struct symbols_place {
    const char *name;    /* NULL: only its bounds are known */
    uint64_t start, end; /* end == start: unknown */
};
/* The symbol that covers the ELF address `pc`; false where none does. */
bool symbols_place(struct symbols *symbols, uint32_t id, uint64_t pc, struct symbols_place *place);

/* The kept, demangled form of a linkage name, or the name itself where it is not mangled. */
const char *symbols_demangle(struct symbols *symbols, const char *linkage_name);

/* The kept copy of `text`: equal texts are equal pointers. Lives until symbols_free(). */
const char *symbols_keep(struct symbols *symbols, const char *text);

#endif
