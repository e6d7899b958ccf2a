/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers distinct codes from 0 in the order in which they were added: a hash table with open
 * addressing (Knuth, TAOCP 3, 6.4, algorithm L). Finding may be done by several threads as long as
 * none adds. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of all keys of a row, packed. */
struct code {
    uint64_t low, high;
};

#define CODE_NONE UINT32_MAX

/* Mixes all bits of a number: the finalizer of splitmix64 (Steele, Lea, Flood, Fast splittable
 * pseudorandom number generators, OOPSLA 2014). */
static inline uint64_t code_mix(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

/* Empty if all fields are 0. */
struct code_map {
    struct code *codes; /* by number */
    uint32_t *slots;    /* number + 1, 0: free */
    size_t count, capacity;
    size_t slot_count; /* a power of two */
};

/* Returns the number of a code, CODE_NONE if it is not in the map. */
uint32_t code_map_find(const struct code_map *map, struct code code);
/* Stores the number of a code, which it adds if it is new. Returns false if memory is exhausted or
 * there are `limit` codes already. */
bool code_map_add(struct code_map *map, struct code code, size_t limit, uint32_t *number);
void code_map_free(struct code_map *map);
