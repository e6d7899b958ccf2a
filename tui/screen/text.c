/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes and encodes UTF-8, and measures glyphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "schemas/printable.h"
#include "tui/screen/cells.h"

uint32_t text_next(const char **text)
{
    const unsigned char *byte = (const unsigned char *)*text;
    if (byte[0] == 0)
        return 0;
    if (byte[0] < 0x80) {
        *text += 1;
        return byte[0];
    }
    int following = byte[0] >= 0xf0 ? 3 : byte[0] >= 0xe0 ? 2 : 1;
    uint32_t glyph = byte[0] & (0x3fU >> following);
    bool good = byte[0] >= 0xc2 && byte[0] <= 0xf4;
    for (int i = 1; good && i <= following; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            good = false;
        else
            glyph = glyph << 6 | (byte[i] & 0x3fU);
    }
    bool overlong = (following == 2 && glyph < 0x800) || (following == 3 && glyph < 0x10000);
    if (!good || overlong || glyph > 0x10ffff || (glyph >= 0xd800 && glyph < 0xe000)) {
        *text += 1;
        return '?';
    }
    *text += following + 1;
    return glyph;
}

int text_encode(uint32_t glyph, char *out)
{
    int length = glyph < 0x80 ? 1 : glyph < 0x800 ? 2 : glyph < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (glyph & 0x3f));
        glyph >>= 6;
    }
    out[0] = (char)(lead[length] | glyph);
    out[length] = 0;
    return length;
}

bool glyph_steers(uint32_t glyph)
{
    return printable_steers(glyph);
}

int glyph_width(uint32_t glyph)
{
    if (printable_steers(glyph))
        return 0;
    if (glyph < 0x300)
        return 1;
    /* Lines, blocks, arrows and punctuation are narrow everywhere. wcwidth() knows the rest, and
     * returns -1 if the locale does not have the character. */
    if (glyph >= 0x2010 && glyph < 0x2800)
        return 1;
    int width = wcwidth((wchar_t)glyph);
    return width < 0 ? 1 : width > 2 ? 2 : width;
}

int text_width(const char *text)
{
    int width = 0;
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;)
        width += glyph_width(glyph);
    return width;
}

char *text_clean_lines(const char *text)
{
    char *clean = malloc(PRINTABLE_BYTE_MAX * strlen(text) + 1), *out = clean;
    while (clean && *text) {
        const unsigned length = *text == '\n' || *text == '\t' ? 1 : printable_glyph(text);
        if (length > 0)
            memcpy(out, text, length);
        else
            snprintf(out, PRINTABLE_BYTE_MAX + 1, "\\x%02x", (unsigned char)*text);
        out += length > 0 ? length : PRINTABLE_BYTE_MAX;
        text += length > 0 ? length : 1;
    }
    if (clean)
        *out = 0;
    return clean;
}
