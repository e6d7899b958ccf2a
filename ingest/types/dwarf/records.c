/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/records.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/dwarf/layout.h"

struct record {
    const char *name;
    uint64_t size;
    struct types_index *index;
    struct types_type type;
};

struct types_records {
    void *tree; /* of struct record, sorted by size and name */
};

static int compare_records(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return strcmp(a->name, b->name);
}

struct types_records *types_records_new(void)
{
    return calloc(1, sizeof(struct types_records));
}

void types_records_free(struct types_records *records)
{
    if (!records)
        return;
    tdestroy(records->tree, free);
    free(records);
}

void types_records_add(struct types_records *records, const char *name, struct types_index *index,
                       const struct types_type *type)
{
    const struct record key = {name, type->size, index, *type};
    if (!name || type->shape != TYPES_RECORD || tfind(&key, &records->tree, compare_records))
        return;
    struct record *record = malloc(sizeof(*record));
    if (!record)
        return;
    *record = key;
    if (!tsearch(record, &records->tree, compare_records))
        free(record);
}

bool types_records_members(const struct types_records *records, const char *name, uint64_t size,
                           types_member_function *each, void *context)
{
    const struct record key = {.name = name, .size = size};
    struct record *const *found = tfind(&key, &records->tree, compare_records);
    return !found || types_layout_each((*found)->index, &(*found)->type, each, context);
}
