/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function symbols of one module, sorted by address: .symtab (also that of the separate debug
 * file) or else .dynsym; entries of the procedure linkage table; and, for code that no symbol
 * covers, the functions of .eh_frame_hdr, which have bounds but no name.
 */
#ifndef MPROF_INGEST_SYMBOLS_TABLE_H
#define MPROF_INGEST_SYMBOLS_TABLE_H

#include "ingest/symbols/file.h"
#include "ingest/symbols/strings.h"

struct symbols_table;

struct symbols_symbol {
    uint64_t start, end; /* end == start: reaches up to the next symbol or the end of the section */
    const char *name;    /* as in the symbol table; NULL: bounds only */
    uint8_t rank;        /* of the aliases at one address, the lowest wins */
    bool is_plt;         /* "@plt" is added when the name is kept */
    bool kept;           /* `name` is kept; until then it lies in the file */
};

/* From this rank on, an entry never takes part of a function that another entry covers. */
#define SYMBOLS_RANK_LABEL 8
#define SYMBOLS_RANK_PLT 7
#define SYMBOLS_RANK_BOUNDS 16

/* Returns NULL only if memory is exhausted. `strings` keeps the names that are asked for. The file
 * must live as long. */
struct symbols_table *symbols_table_new(const struct symbols_file *file,
                                        struct symbols_strings *strings);
void symbols_table_free(struct symbols_table *table);

/* Returns the symbol that covers `address`, the innermost of several, or NULL. Its name is kept. */
const struct symbols_symbol *symbols_table_find(struct symbols_table *table, uint64_t address);

/* Returns 'symtab', 'dynsym' or 'none'. */
const char *symbols_table_source(const struct symbols_table *table);

/* Adds an entry before the table is sorted. Returns false if memory is exhausted. */
bool symbols_table_add(struct symbols_table *table, const struct symbols_symbol *symbol);

#endif
