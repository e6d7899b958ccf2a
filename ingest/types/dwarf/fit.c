/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/fit.h"

enum types_fit types_fit(struct types_index *index, const struct types_type *type, uint64_t size,
                         int64_t offset)
{
    if (offset < 0 || (uint64_t)offset >= size)
        return TYPES_FIT_NOT;
    uint64_t held = size - (uint64_t)offset;
    if (type->shape == TYPES_CHARACTER)
        return TYPES_FIT_BUFFER;
    if (type->shape == TYPES_VOID || type->shape == TYPES_UNUSABLE || type->size == 0)
        return TYPES_FIT_NOT;
    if (held == type->size)
        return TYPES_FIT_WHOLE;
    uint64_t start;
    if (types_flexible_end(index, type, &start) && held >= start)
        return TYPES_FIT_FLEXIBLE;
    return held > 0 && held % type->size == 0 ? TYPES_FIT_ARRAY : TYPES_FIT_NOT;
}
