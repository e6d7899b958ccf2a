/* SPDX-License-Identifier: BSD-2-Clause */
/* One machine frame of an allocation's stack, with everything that the type rules ask about it. */
#pragma once

#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/locals.h"

struct types_called_once;
struct types_data_symbols;
struct types_folded;
struct types_functions;
struct types_sources;
struct types_statement_facts;

struct types_site {
    struct symbols *symbols;
    uint32_t module;
    uint64_t return_address;
    struct symbols_dwarf *dwarf;             /* or NULL */
    const struct symbols_file *file;         /* NULL: the module could not be opened */
    struct types_index *index;               /* NULL: no DWARF */
    struct types_globals *globals;           /* NULL: no DWARF */
    struct types_folded *folded;             /* NULL: no DWARF */
    struct types_data_symbols *data_symbols; /* NULL: the module could not be opened */
    struct types_functions *functions;
    struct types_sources *sources;
    time_t built; /* time of the module's last change; a newer source file is not its own */
    struct types_called_once *called;        /* flow/calls.h */
    struct types_statement_facts *statement; /* source/source_statement.h */
    bool nameless;                /* the frames' names were read and do not give the type */
    struct symbols_frame *frames; /* innermost first, with inlined ones */
    size_t frame_count;
    Dwarf_Die *entries; /* of those frames, if there is DWARF */
    size_t entry_count;
    size_t level; /* the one of those frames whose variables and text are examined */
};
