/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions and inlined calls of one compilation unit: a tree of scopes and a map from addresses to
 * the innermost scope.
 */
#ifndef MPROF_INGEST_SYMBOLS_SCOPES_H
#define MPROF_INGEST_SYMBOLS_SCOPES_H

#include "ingest/base/array.h"
#include "ingest/symbols/budget.h"
#include "ingest/symbols/file.h"
#include "ingest/symbols/intervals.h"
#include "ingest/symbols/lines.h"
#include "ingest/symbols/qualified.h"
#include "ingest/symbols/strings.h"

struct symbols_scope {
    uint64_t die;       /* offset in the unit's DWARF */
    uint64_t start;     /* address of its code */
    uint32_t parent;    /* the scope it is inlined into; SYMBOLS_NOWHERE: not inlined */
    uint32_t call_file; /* of the inlined call, as a number among the unit's files; UINT32_MAX:
                           unknown */
    uint32_t call_line; /* 0: unknown */
    uint32_t naming;    /* index into `namings` of the tree; SYMBOLS_NOWHERE: not read yet */
    bool by_origin;     /* its names are those of its abstract origin */
};

/* The names of a scope and where its function is declared. */
struct symbols_naming {
    /* The address in memory of the entry that names it. NULL: the names are one scope's. */
    const void *origin;
    const char *name; /* DW_AT_name, qualified if it has no linkage name, or NULL */
    const char *linkage_name;
    const char *decl_file;
    uint32_t decl_line;
    uint64_t alone; /* where its copy out of line begins, if it has no linkage name; 0: none */
};

/* A function that is inlined elsewhere and has code of its own as well. */
struct symbols_instance {
    const void *origin; /* address in memory of the entry that both name */
    uint64_t start;
};

/* An all-zero tree is empty. */
struct symbols_scopes {
    struct symbols_scope *scopes;
    size_t count, capacity;
    struct symbols_intervals addresses;
    struct symbols_qualified qualified;
    struct symbols_naming *namings;
    size_t naming_count, naming_capacity;
    struct index_map by_origin;
    struct symbols_instance *instances; /* sorted by origin; NULL: not looked for yet */
    size_t instance_count;
};

/*
 * Walks the unit. Returns false if memory is exhausted or the budget is spent. Skips damaged
 * entries.
 */
bool symbols_scopes_build(struct symbols_scopes *scopes, const struct symbols_file *file,
                          Dwarf_Die *unit, struct symbols_budget *budget);
void symbols_scopes_free(struct symbols_scopes *scopes);

/*
 * Returns the names of a scope, which the first call for it reads. `unit` is the unit that was
 * built, `lines` is of the same unit or NULL. The result is valid until the next call.
 */
const struct symbols_naming *symbols_scopes_naming(struct symbols_scopes *scopes,
                                                   const struct symbols_lines *lines,
                                                   struct symbols_strings *strings, Dwarf_Die *unit,
                                                   uint32_t scope);

/* Returns the file with that number in the unit's table (`lines`, if not NULL), or NULL. */
const char *symbols_scopes_file(const struct symbols_lines *lines, struct symbols_strings *strings,
                                Dwarf_CU *unit, uint64_t index);

#endif
