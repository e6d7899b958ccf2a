/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/languages.h"

#include <dwarf.h>
#include <string.h>

/* The language of the function's unit, 0: unknown. */
static int language_of(const struct types_site *site)
{
    Dwarf_Die unit;
    if (site->entry_count == 0 || !dwarf_cu_die(site->entries[site->entry_count - 1].cu, &unit,
                                                NULL, NULL, NULL, NULL, NULL, NULL))
        return 0;
    return dwarf_srclang(&unit);
}

bool types_language_is_ada(const struct types_site *site)
{
    const int language = language_of(site);
    return language == DW_LANG_Ada83 || language == DW_LANG_Ada95;
}

bool types_language_denies(const struct types_site *site, const struct types_type *type,
                           const char *name, uint64_t size, bool opaque)
{
    const char *function = site->frames[site->frame_count - 1].function;
    const bool part = opaque && type->shape == TYPES_RECORD && type->size != size;
    switch (language_of(site)) {
    case DW_LANG_Pascal83:
        return true;
    case DW_LANG_Ada83:
    case DW_LANG_Ada95:
        return strstr(name, "___X") || strncmp(name, "ada__tags__", 11) == 0;
    case DW_LANG_D:
        return part;
    default:
        /* gcc calls Objective-C C, but not its methods. */
        return strncmp(name, "tyObject_NimSeqPayloadBase", 26) == 0 ||
               strcmp(name, "objc_object") == 0 ||
               (part && (strncmp(function, "-[", 2) == 0 || strncmp(function, "+[", 2) == 0));
    }
}
