/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/string_pool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 1 << 16 };

struct string_block {
    struct string_block *next;
    size_t used, size;
    char text[];
};

const char *string_pool_add(struct string_pool *pool, const char *text)
{
    if (!text || text[0] == '\0')
        return "";
    size_t length = strlen(text) + 1;
    struct string_block *block = pool->blocks;
    if (!block || block->size - block->used < length) {
        size_t size = length > BLOCK_SIZE ? length : BLOCK_SIZE;
        block = malloc(sizeof(*block) + size);
        if (!block)
            return NULL;
        *block = (struct string_block){.next = pool->blocks, .size = size};
        pool->blocks = block;
    }
    char *copy = block->text + block->used;
    memcpy(copy, text, length);
    block->used += length;
    return copy;
}

void string_pool_free(struct string_pool *pool)
{
    while (pool->blocks) {
        struct string_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
}
