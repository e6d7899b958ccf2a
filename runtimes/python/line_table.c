/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An entry begins with a byte that has the top bit set: four bits of form, three of length in code
 * units, minus one. No later byte of the entry has the top bit.
 */
#include "runtimes/python/line_table.h"

#define UNIT 2 /* bytes */
#define PIECE 128u

enum form { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

/* The bytes that are being read. */
struct cursor {
    struct memory *memory;
    const unsigned char *table;
    size_t size, at;
    const unsigned char *piece; /* from `piece_start` up to `piece_end` */
    size_t piece_start, piece_end;
};

/* Returns the next byte, or -1 at the end. */
static int peek(struct cursor *cursor)
{
    if (cursor->at >= cursor->size)
        return -1;
    if (cursor->at >= cursor->piece_end) {
        const size_t left = cursor->size - cursor->at;
        cursor->piece_start = cursor->at;
        cursor->piece_end = cursor->at + (left < PIECE ? left : PIECE);
        cursor->piece = memory_at(cursor->memory, cursor->table + cursor->at,
                                  cursor->piece_end - cursor->piece_start);
        if (!cursor->piece) {
            cursor->size = cursor->at;
            return -1;
        }
    }
    return cursor->piece[cursor->at - cursor->piece_start];
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

unsigned line_table_find(struct memory *memory, const unsigned char *table, size_t size, int first,
                         ptrdiff_t offset)
{
    struct cursor cursor = {.memory = memory, .table = table, .size = size};
    int64_t line = first;
    ptrdiff_t end = 0;
    int byte;
    if (offset < 0)
        return first > 0 ? (unsigned)first : 0;
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
