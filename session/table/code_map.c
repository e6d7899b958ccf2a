/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/table/code_map.h"

#include <stdlib.h>

/* Returns the slot that holds the code, or the free one in which it belongs. */
static size_t slot_of(const struct code_map *map, struct code code)
{
    size_t slot = (size_t)code_mix(code.low ^ (code.high * UINT64_C(0x9e3779b97f4a7c15))) &
                  (map->slot_count - 1);
    while (map->slots[slot] != 0) {
        const struct code *here = &map->codes[map->slots[slot] - 1];
        if (here->low == code.low && here->high == code.high)
            break;
        slot = (slot + 1) & (map->slot_count - 1);
    }
    return slot;
}

uint32_t code_map_find(const struct code_map *map, struct code code)
{
    if (map->slot_count == 0)
        return CODE_NONE;
    const uint32_t number = map->slots[slot_of(map, code)];
    return number == 0 ? CODE_NONE : number - 1;
}

/* Makes room for one more code: at most half of the slots are in use. */
static bool grow(struct code_map *map)
{
    if (map->count < map->capacity)
        return true;
    const size_t capacity = map->capacity == 0 ? 512 : map->capacity * 2;
    struct code *codes = realloc(map->codes, capacity * sizeof(*codes));
    if (codes)
        map->codes = codes;
    uint32_t *slots = codes ? calloc(capacity * 2, sizeof(*slots)) : NULL;
    if (!slots)
        return false;
    free(map->slots);
    map->slots = slots;
    map->slot_count = capacity * 2;
    map->capacity = capacity;
    for (size_t i = 0; i < map->count; i++)
        map->slots[slot_of(map, map->codes[i])] = (uint32_t)i + 1;
    return true;
}

bool code_map_add(struct code_map *map, struct code code, size_t limit, uint32_t *number)
{
    if (map->slot_count != 0) {
        *number = map->slots[slot_of(map, code)] - 1;
        if (*number != CODE_NONE)
            return true;
    }
    if (map->count >= limit || !grow(map))
        return false;
    map->codes[map->count] = code;
    map->slots[slot_of(map, code)] = (uint32_t)++map->count;
    *number = (uint32_t)map->count - 1;
    return true;
}

void code_map_free(struct code_map *map)
{
    free(map->codes);
    free(map->slots);
    *map = (struct code_map){.count = 0};
}
