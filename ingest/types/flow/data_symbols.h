/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variables of a module in its symbol tables, with their addresses. They include tables of
 * virtual functions and typeinfos.
 */
#ifndef MPROF_INGEST_TYPES_FLOW_DATA_SYMBOLS_H
#define MPROF_INGEST_TYPES_FLOW_DATA_SYMBOLS_H

#include <stdint.h>

#include "ingest/symbols/file.h"

struct types_data_symbols;

/* Returns NULL if memory is exhausted. The first question reads the tables. */
struct types_data_symbols *types_data_symbols_new(const struct symbols_file *file);
void types_data_symbols_free(struct types_data_symbols *objects);

/*
 * Returns the linker's name of the object that covers the ELF address. NULL: there is none, or
 * `objects` is NULL.
 */
const char *types_data_symbols_find(struct types_data_symbols *objects, uint64_t address);

#endif
