/* SPDX-License-Identifier: BSD-2-Clause */
/* Packs and reads the parts of the table `slot_sum`. schemas/slots.md is normative. Everything is
 * inline and allocates nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOT_PART 256u       /* slots in a part */
#define SLOT_LEVELS 3u       /* coarsest first */
#define SLOT_LEVEL_RATIO 16u /* slots of a level in one slot of the level before */
#define SLOT_FINEST 65536u   /* slots of the finest level */
#define SLOT_TILE_SHIFT 20   /* a tile is 1 MiB of addresses */

/* The most bytes of a coded number, and of a cell. */
#define SLOT_NUMBER_MOST 10u
#define SLOT_CELL_MOST 60u

_Static_assert(SLOT_FINEST == SLOT_PART * SLOT_LEVEL_RATIO * SLOT_LEVEL_RATIO, "three levels");
_Static_assert(SLOT_CELL_MOST == 6 * SLOT_NUMBER_MOST, "a key and five numbers");

enum slot_key { SLOT_KEY_ALL, SLOT_KEY_FUNCTION, SLOT_KEY_TYPE, SLOT_KEY_SIZE, SLOT_KEY_TILE };
#define SLOT_KEYS 5u

/* The sums of the blocks of one key in one slot. */
struct slot_cell {
    uint64_t key;
    uint64_t allocated_count, allocated_bytes, freed_count, freed_bytes;
    uint64_t rise; /* only of SLOT_KEY_ALL: largest live bytes in the slot, less those before it */
};

/* Returns the number of slots of a level in the whole session: 256, 4096, 65536. */
static inline uint64_t slot_level_slots(unsigned level)
{
    return level == 0 ? SLOT_PART : level == 1 ? SLOT_PART * SLOT_LEVEL_RATIO : SLOT_FINEST;
}

/* Returns the length of a slot of the finest level. */
static inline uint64_t slot_length_ns(uint64_t duration_ns)
{
    return duration_ns / SLOT_FINEST + 1;
}

/* Returns the class of a size: the power of two that it fits into, 0 to 64. */
static inline unsigned slot_size_class(uint64_t size)
{
    return size <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(size - 1);
}

/* Returns the place after the coded number. */
static inline uint8_t *slot_put_number(uint8_t *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

/* Writes a cell, at most SLOT_CELL_MOST bytes. *next_key is 0 before the first cell of a slot. */
static inline uint8_t *slot_put_cell(uint8_t *at, enum slot_key of, const struct slot_cell *cell,
                                     uint64_t *next_key)
{
    at = slot_put_number(at, cell->key - *next_key);
    *next_key = cell->key + 1;
    at = slot_put_number(at, cell->allocated_count);
    if (cell->allocated_count != 0)
        at = slot_put_number(at, cell->allocated_bytes);
    at = slot_put_number(at, cell->freed_count);
    if (cell->freed_count != 0)
        at = slot_put_number(at, cell->freed_bytes);
    return of == SLOT_KEY_ALL ? slot_put_number(at, cell->rise) : at;
}

/* Bytes to read. `failed` is set if a number goes beyond their end. */
struct slot_bytes {
    const uint8_t *at, *end;
    bool failed;
};

static inline uint64_t slot_get_number(struct slot_bytes *bytes)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (bytes->at == bytes->end)
            break;
        uint8_t byte = *bytes->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    bytes->failed = true;
    return 0;
}

/* Reads the next cell of a slot. False at the slot's end or if the bytes are damaged. *next_key is
 * 0 before the first. */
static inline bool slot_get_cell(struct slot_bytes *bytes, enum slot_key of, struct slot_cell *cell,
                                 uint64_t *next_key)
{
    if (bytes->at == bytes->end || bytes->failed)
        return false;
    uint64_t skipped = slot_get_number(bytes);
    if (skipped > UINT32_MAX || *next_key > UINT32_MAX)
        bytes->failed = true;
    cell->key = *next_key + skipped;
    *next_key = cell->key + 1;
    cell->allocated_count = slot_get_number(bytes);
    cell->allocated_bytes = cell->allocated_count != 0 ? slot_get_number(bytes) : 0;
    cell->freed_count = slot_get_number(bytes);
    cell->freed_bytes = cell->freed_count != 0 ? slot_get_number(bytes) : 0;
    cell->rise = of == SLOT_KEY_ALL ? slot_get_number(bytes) : 0;
    return !bytes->failed;
}

/* The slots of one part. */
struct slot_part {
    const uint8_t *cells;
    uint32_t first[SLOT_PART + 1]; /* places of the slots' cells */
};

/* Finds the slots of a part. False if it is damaged. */
static inline bool slot_part_open(struct slot_part *part, const void *data, size_t length)
{
    struct slot_bytes bytes = {(const uint8_t *)data, (const uint8_t *)data + length, false};
    uint64_t place = 0;
    part->cells = NULL;
    if (length > UINT32_MAX)
        return false;
    for (unsigned i = 0; i < SLOT_PART; i++) {
        uint64_t here = slot_get_number(&bytes);
        part->first[i] = (uint32_t)place;
        if (bytes.failed || here > length)
            return false;
        place += here;
        if (place > length)
            return false;
    }
    part->first[SLOT_PART] = (uint32_t)place;
    part->cells = bytes.at;
    return place == (uint64_t)(bytes.end - bytes.at);
}

/* Returns the cells of slot `slot` of the part, 0 to SLOT_PART - 1, for slot_get_cell(). */
static inline struct slot_bytes slot_part_cells(const struct slot_part *part, unsigned slot)
{
    return (struct slot_bytes){part->cells + part->first[slot], part->cells + part->first[slot + 1],
                               false};
}
