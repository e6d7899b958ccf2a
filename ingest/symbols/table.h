/* SPDX-License-Identifier: BSD-2-Clause */
/* The function symbols of one module, sorted by address: .symtab (also that of the separate debug
 * file) or else .dynsym; entries of the procedure linkage table; and, for code that no symbol
 * covers, the functions of .eh_frame_hdr, which have bounds but no name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ingest/symbols/file.h"

struct symbols_table;

struct symbols_symbol {
    uint64_t start, end; /* end == start: reaches up to the next symbol or the end of the section */
    const char *name;    /* as in the symbol table; NULL: bounds only */
    uint8_t rank;        /* of the aliases at one address, the lowest wins */
    bool is_plt;         /* "@plt" is added when the name is kept */
    bool kept;           /* `name` is kept; until then it lies in the file */
};

/* Returns NULL only if memory is exhausted. `strings` keeps the names that are asked for. The file
 * must live as long. */
struct symbols_table *symbols_table_new(const struct symbols_file *file,
                                        struct symbols_strings *strings);
void symbols_table_free(struct symbols_table *table);

/* Returns the symbol that covers `address`, the innermost of several, or NULL. Its name is kept. */
const struct symbols_symbol *symbols_table_find(struct symbols_table *table, uint64_t address);

/* Returns 'symtab', 'dynsym' or 'none'. */
const char *symbols_table_source(const struct symbols_table *table);

/* ---- lisp ---------------------------------------------------------------------------------- */

/* The Lisp names of functions that ECL's compiler has made. It calls the function MAKE-NODES
 * L6make_nodes, or LC6make_nodes if it is a method or a closure: a number, and the name with _ for
 * each character that C does not allow. The compiled file has the symbols that it uses as text, and
 * these tell the name. */

/* Returns true if a name could be one of these. */
bool symbols_lisp_is_candidate(const char *name);

/* Writes the Lisp name of the function `name` of a file. Symbols have their package, but for those
 * of COMMON-LISP and COMMON-LISP-USER. Returns false if the file was not made by ECL, or if none or
 * several of its symbols could be meant. */
bool symbols_lisp_name(const struct symbols_file *file, const char *name, char *lisp, size_t size);
