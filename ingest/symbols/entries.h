/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code without a symbol of its own: entries of the procedure linkage table, which are named after
 * the function they jump to ("malloc@plt"), and functions that only .eh_frame_hdr knows (bounds, no
 * name).
 */
#ifndef MPROF_INGEST_SYMBOLS_ENTRIES_H
#define MPROF_INGEST_SYMBOLS_ENTRIES_H

#include "ingest/symbols/table.h"

/* Both return false only if memory is exhausted. A damaged section adds nothing. */
bool symbols_entries_add_plt(struct symbols_table *table, const struct symbols_file *file);
bool symbols_entries_add_unwound(struct symbols_table *table, const struct symbols_file *file);

#endif
