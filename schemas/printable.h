/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes text from outside (names of files, arguments, threads, functions) safe for messages and
 * terminals. All programs use this form: printable UTF-8 stays, other bytes become \xHH. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of \xHH, the longest form of one byte. */
#define PRINTABLE_BYTE_MAX 4u

/* Returns true if a glyph can steer a terminal: C0, DEL and C1, line separators, and marks that
 * change the direction of the text after them. */
static inline bool printable_steers(uint32_t glyph)
{
    return glyph < 0x20 || (glyph >= 0x7f && glyph < 0xa0) || glyph == 0x061c || glyph == 0x200e ||
           glyph == 0x200f || (glyph >= 0x2028 && glyph <= 0x202e) ||
           (glyph >= 0x2066 && glyph <= 0x2069) || glyph == 0xfeff;
}

/* Stores the glyph at the start of `text`. Returns its length in bytes, 0 if they are not UTF-8. */
static inline unsigned printable_decode(const char *text, uint32_t *glyph)
{
    const unsigned char *byte = (const unsigned char *)text;
    *glyph = byte[0];
    if (byte[0] < 0x80)
        return 1;
    if (byte[0] < 0xc2 || byte[0] > 0xf4)
        return 0;
    const unsigned length = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
    *glyph = byte[0] & (0x7fU >> length);
    for (unsigned i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        *glyph = *glyph << 6 | (byte[i] & 0x3fU);
    }
    const bool overlong = (length == 3 && *glyph < 0x800) || (length == 4 && *glyph < 0x10000);
    const bool surrogate = *glyph >= 0xd800 && *glyph < 0xe000;
    return overlong || surrogate || *glyph > 0x10ffff ? 0 : length;
}

/* Returns the length in bytes of the printable glyph at the start of `text`, 0 if there is none. */
static inline unsigned printable_glyph(const char *text)
{
    uint32_t glyph;
    const unsigned length = printable_decode(text, &glyph);
    return printable_steers(glyph) ? 0 : length;
}

/* Writes `text` to `out` in its printable form, and a NUL. Cuts text that does not fit into `size`
 * bytes (at least 1) before a glyph. Returns the length without the NUL. Allocates nothing and
 * calls nothing. */
static inline size_t printable_copy(char *out, size_t size, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    while (*text) {
        const unsigned length = printable_glyph(text);
        if (used + (length ? length : PRINTABLE_BYTE_MAX) >= size)
            break;
        for (unsigned i = 0; i < length; i++)
            out[used++] = text[i];
        if (!length) {
            const unsigned char byte = (unsigned char)*text;
            out[used++] = '\\';
            out[used++] = 'x';
            out[used++] = digits[byte >> 4];
            out[used++] = digits[byte & 15];
        }
        text += length ? length : 1;
    }
    out[used] = '\0';
    return used;
}
