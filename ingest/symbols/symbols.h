/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns a pc in a module into frames: function, file, line, inlined calls.
 *
 * Order of calls: symbols_new(), symbols_set_program() if known, symbols_module() once for each
 * module, symbols_lookup() for each distinct pc (the caller caches), symbols_free(). The first
 * lookup in a module builds its tables in one pass over its symbol table and its DWARF units. Each
 * lookup is then a binary search. The tables own the names, which live until symbols_free(). */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct cache;
struct cache_depends;
struct coding;
struct symbols;
struct symbols_file;
struct symbols_dwarf;

struct symbols_options {
    const char *debug_dir; /* --debug-dir, in addition to /usr/lib/debug, or NULL */
    const char *sysroot;   /* --sysroot, put before every path, or NULL */
    const volatile sig_atomic_t
        *interrupted; /* ends questions to servers of debug files; or NULL */
};

/* Returns NULL only if memory is exhausted. */
struct symbols *symbols_new(const struct symbols_options *options);
void symbols_free(struct symbols *symbols);

/* The facts about the recorded program that names depend on. */
struct symbols_program {
    const char *directory; /* its working directory, for relative module paths; NULL: unknown */
    uint64_t pid;          /* for its perf map; 0: unknown */
    uint64_t start_ns;     /* start of the recording, real-time clock */
};

/* Returns true for a regular file, not a link, of this user or of root: anyone may put a file into
 * /tmp. */
bool symbols_trust(const struct stat *information);

/* Sets the program. Call this before the first lookup. Reads /tmp/perf-PID.map (below the sysroot)
 * if the program left one. Returns false if memory is exhausted. */
bool symbols_set_program(struct symbols *symbols, const struct symbols_program *program);

/* Registers the module with the trace's `id` (> 0). `build_id` may be empty. A file with another
 * build-id is not used, and symbols_status() says so. */
void symbols_module(struct symbols *symbols, uint32_t id, const char *path, const uint8_t *build_id,
                    size_t build_id_length);

/* Starts another trace, whose modules have ids of their own. If a file is registered again with the
 * same path and build-id, the open one is used. */
void symbols_next_trace(struct symbols *symbols);

/* Returns a number that identifies the file of module `id` in all traces. Every call accepts it in
 * place of an id. For an id without a module the number identifies the trace. */
uint32_t symbols_file_number(const struct symbols *symbols, uint32_t id);

/* Returns the bytes of debug information in the open files. The memory used grows with them. */
uint64_t symbols_bytes(const struct symbols *symbols);
/* Returns the number of open files. Each has one or two descriptors. */
size_t symbols_files(const struct symbols *symbols);

/* Notes for symbols_status() that part of a module's debug information was given up. */
void symbols_set_spent(struct symbols *symbols, uint32_t id);

/* Returns 'dwarf', 'symtab', 'dynsym', 'none', or one line that says why there are no symbols. */
const char *symbols_status(struct symbols *symbols, uint32_t id);
/* A status says this before the reason, if there is debug information that cannot be read. */
#define SYMBOLS_UNREADABLE "debug information cannot be read: "

struct symbols_frame {
    const char *function;     /* demangled; "module+0x1234" if no symbol covers the pc */
    const char *linkage_name; /* as in the symbol table; NULL: the same as `function` */
    const char *file;         /* of `line`; NULL: unknown */
    const char *decl_file;    /* where the function is declared; NULL: unknown */
    uint64_t start;           /* where the (inlined) function's code begins; 0: unknown */
    uint64_t alone;           /* if inlined: start of its own copy out of line; 0: none */
    uint32_t line;            /* 0: unknown */
    uint32_t decl_line;
    bool inlined; /* into the next frame */
};

#define SYMBOLS_FRAMES_MAX 64

/* Writes the frames of the ELF address `pc` (already minus 1 for return addresses) of module `id`,
 * innermost first, at most SYMBOLS_FRAMES_MAX. Returns their number, at least 1. Module 0 is "no
 * module": `pc` is then the address in the process, and the perf map may know it. */
size_t symbols_lookup(struct symbols *symbols, uint32_t id, uint64_t pc,
                      struct symbols_frame *frames);

/* Does the same without the cache, for rules whose own answers lie there. */
size_t symbols_find(struct symbols *symbols, uint32_t id, uint64_t pc,
                    struct symbols_frame *frames);

/* Names that come with the trace, for code in no module. `lookup` does what symbols_lookup() does,
 * with texts from symbols_keep(), and returns 0 if it does not know `pc`. NULL: there are none. */
struct symbols_given {
    size_t (*lookup)(void *context, struct symbols *symbols, uint64_t pc,
                     struct symbols_frame *frames);
    void *context; /* lives as long as the symbolizer */
};
void symbols_set_given(struct symbols *symbols, struct symbols_given given);

/* Return a module's open file (file.h) and the index of its DWARF (dwarf.h), for rules that read
 * more than names. NULL: there is none. Both live until symbols_free(). */
const struct symbols_file *symbols_module_file(struct symbols *symbols, uint32_t id);
struct symbols_dwarf *symbols_module_dwarf(struct symbols *symbols, uint32_t id);

/* Has answers kept in a cache, and taken from it, before the first trace. NULL: in none. It must
 * live as long as the symbolizer. */
void symbols_set_cache(struct symbols *symbols, struct cache *cache);
struct cache *symbols_cache(const struct symbols *symbols);

/* Appends what stands for a module in the cache's questions. Returns false if questions about it
 * are to be answered without the cache. */
bool symbols_put_module(struct symbols *symbols, uint32_t id, struct coding *coding);

/* Returns the files that answers depend on so far. */
struct cache_depends *symbols_depends(struct symbols *symbols);

/* Returns the value of --sysroot, or NULL. */
const char *symbols_sysroot(const struct symbols *symbols);

/* A symbol of module `id` with the linkage name of the symbol table. */
struct symbols_place {
    const char *name;    /* NULL: only its bounds are known */
    uint64_t start, end; /* end == start: unknown */
};
/* Finds the symbol that covers the ELF address `pc`. Returns false if there is none. */
bool symbols_place(struct symbols *symbols, uint32_t id, uint64_t pc, struct symbols_place *place);

/* Returns the demangled form of a linkage name, kept, or the name itself if it is not mangled. */
const char *symbols_demangle(struct symbols *symbols, const char *linkage_name);

/* Returns the kept copy of `text`. Equal texts give equal pointers. Lives until symbols_free(). */
const char *symbols_keep(struct symbols *symbols, const char *text);

/* Returns the name, kept, of what GNAT calls `name` as its source writes it. */
const char *symbols_ada(struct symbols *symbols, const char *name);
