/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions, inlined calls, files and lines from a module's DWARF.
 *
 * symbols_dwarf_new() reads one entry of each compilation unit for its ranges, because some
 * compilers write no .debug_aranges. The first lookup in a unit reads its functions and lines, so
 * only the called parts of a large program are read. */
#pragma once

#include "ingest/symbols/file.h"

struct symbols_dwarf;

/* Returns NULL if the file has no units of code (errno 0) or memory is exhausted (ENOMEM). `file`
 * and `strings` must live as long as the result. */
struct symbols_dwarf *symbols_dwarf_new(const struct symbols_file *file,
                                        struct symbols_strings *strings);
/* Returns true if units asked for more work than their size allows, so that some were given up. */
bool symbols_dwarf_spent(const struct symbols_dwarf *dwarf);
/* Returns the name of a file that has functions of a unit and cannot be read, as far as it was
 * asked for. NULL: there is none. */
const char *symbols_dwarf_missing(const struct symbols_dwarf *dwarf);
/* Returns true if the functions of some unit lie in a file of their own. */
bool symbols_dwarf_is_split(const struct symbols_dwarf *dwarf);
void symbols_dwarf_free(struct symbols_dwarf *dwarf);

/* Writes the frames of `pc`, innermost first, at most SYMBOLS_FRAMES_MAX, and returns their number.
 * `function` is DW_AT_name or NULL, `linkage_name` is not demangled yet. If there is no frame, file
 * and line of the first one are still set if they are known. */
size_t symbols_dwarf_lookup(struct symbols_dwarf *dwarf, uint64_t pc, struct symbols_frame *frames);

/* Writes the entries of the functions of those frames, innermost first: each
 * DW_TAG_inlined_subroutine and, last, the DW_TAG_subprogram; at most SYMBOLS_FRAMES_MAX. Returns
 * their number. */
size_t symbols_dwarf_entries(struct symbols_dwarf *dwarf, uint64_t pc, Dwarf_Die *entries);
