/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An entry begins with a byte that has the top bit set: four bits of form, three of length in code
 * units, minus one. No later byte of the entry has the top bit.
 */
#include "runtimes/python/line_table.h"

#include <stdint.h>

#include "runtimes/python/memory.h"

#define UNIT 2 /* bytes */

enum form { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

/* The bytes that are being read. */
struct cursor {
    const unsigned char *table;
    size_t size, at;
};

/* Returns the next byte, or -1 at the end. */
static int peek(const struct cursor *cursor)
{
    return cursor->at < cursor->size ? cursor->table[cursor->at] : -1;
}

/* Reads a number: six bits in each byte, the smallest first, the sign in the lowest bit. */
static int read_signed(struct cursor *cursor)
{
    unsigned value = 0, shift = 0;
    int byte;
    do {
        byte = peek(cursor);
        if (byte < 0 || shift > 30)
            return 0;
        value |= ((unsigned)byte & 63u) << shift;
        shift += 6;
        cursor->at++;
    } while (byte & 64);
    return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

unsigned line_table_find(const unsigned char *table, size_t size, int first, ptrdiff_t offset)
{
    struct cursor cursor = {.table = table, .size = size};
    int64_t line = first;
    ptrdiff_t end = 0;
    int byte;
    if (offset < 0)
        return first > 0 ? (unsigned)first : 0;
    if (size == 0 || !memory_readable(table, size))
        return 0;
    while ((byte = peek(&cursor)) >= 0) {
        const int form = byte >> 3 & 15;
        cursor.at++;
        if (form >= ONE_LINE_0 && form <= ONE_LINE_2)
            line += form - ONE_LINE_0;
        else if (form == NO_COLUMNS || form == LONG)
            line += read_signed(&cursor);
        end += (ptrdiff_t)UNIT * ((byte & 7) + 1);
        if (offset < end)
            return form != NONE && line > 0 && line <= INT32_MAX ? (unsigned)line : 0;
        while ((byte = peek(&cursor)) >= 0 && byte < 128)
            cursor.at++;
    }
    return 0;
}
