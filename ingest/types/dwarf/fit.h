/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells how well a type fits a block. */
#ifndef MPROF_INGEST_TYPES_DWARF_FIT_H
#define MPROF_INGEST_TYPES_DWARF_FIT_H

#include "ingest/types/dwarf/entries.h"

/* The fit of a type to a block that has `offset` bytes before the first element. */
enum types_fit {
    TYPES_FIT_NOT,
    TYPES_FIT_BUFFER,   /* characters */
    TYPES_FIT_ARRAY,    /* the block's size is a multiple */
    TYPES_FIT_FLEXIBLE, /* a record that ends in a flexible array */
    TYPES_FIT_WHOLE     /* exactly the size */
};

/* Compares the type with a block of `size` bytes. */
enum types_fit types_fit(struct types_index *index, const struct types_type *type, uint64_t size,
                         int64_t offset);

#endif
