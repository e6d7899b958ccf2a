/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions, inlined calls, files and lines from a module's DWARF.
 *
 * symbols_dwarf_new() reads one entry a compilation unit: its ranges (some compilers write no
 * .debug_aranges). A unit's functions and lines are read at the first lookup in it, so that of
 * a large program only what was called is read.
 */
#ifndef MPROF_INGEST_SYMBOLS_DWARF_H
#define MPROF_INGEST_SYMBOLS_DWARF_H

#include "ingest/symbols_file.h"
#include "ingest/symbols_strings.h"

struct symbols_dwarf;

/*
 * NULL where the file has no units of code (errno 0) or memory is exhausted (ENOMEM). `file`
 * and `strings` must live as long.
 */
struct symbols_dwarf *symbols_dwarf_new(const struct symbols_file *file,
                                        struct symbols_strings *strings);
/* Whether its units asked for more work than their size allows, and some were given up. */
bool symbols_dwarf_spent(const struct symbols_dwarf *dwarf);
void symbols_dwarf_free(struct symbols_dwarf *dwarf);

/*
 * Frames of `pc`, innermost first, at most SYMBOLS_FRAMES_MAX; returns how many. `function` is
 * not demangled yet: it is DW_AT_name, or NULL, and `linkage_name` as found. With no frame,
 * file and line of the first one are still set where they are known.
 */
size_t symbols_dwarf_lookup(struct symbols_dwarf *dwarf, uint64_t pc, struct symbols_frame *frames);

/*
 * Entries of the functions of those frames, innermost first: DW_TAG_inlined_subroutine and, last,
 * the DW_TAG_subprogram; at most SYMBOLS_FRAMES_MAX. Returns how many.
 */
size_t symbols_dwarf_entries(struct symbols_dwarf *dwarf, uint64_t pc, Dwarf_Die *entries);

#endif
