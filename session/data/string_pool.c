/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/string_pool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { AREA_SIZE = 1 << 16 };

struct string_area {
    struct string_area *next;
    size_t used, size;
    char text[];
};

const char *string_pool_add(struct string_pool *pool, const char *text)
{
    if (!text || text[0] == '\0')
        return "";
    size_t length = strlen(text) + 1;
    struct string_area *area = pool->areas;
    if (!area || area->size - area->used < length) {
        size_t size = length > AREA_SIZE ? length : AREA_SIZE;
        area = malloc(sizeof(*area) + size);
        if (!area)
            return NULL;
        *area = (struct string_area){.next = pool->areas, .size = size};
        pool->areas = area;
    }
    char *copy = area->text + area->used;
    memcpy(copy, text, length);
    area->used += length;
    return copy;
}

void string_pool_free(struct string_pool *pool)
{
    while (pool->areas) {
        struct string_area *next = pool->areas->next;
        free(pool->areas);
        pool->areas = next;
    }
}
